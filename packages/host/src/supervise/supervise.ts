import type { Host } from '../host.ts';
import type { SessionAddress } from '../process/family.ts';
import type { ProcessIdentity } from '../process/identity.ts';
import { isAlive } from '../process/identity.ts';
import { findSession } from '../session/find-session.ts';
import type { SessionSpec } from '../session/start-session.ts';
import { damagedRecord, startSession } from '../session/start-session.ts';
import { stopSession } from '../session/stop-session.ts';

/** The facts about a process that its owner keeps: sessions in their rows, checks in theirs. */
export type ProcessRecord = {
  /** Every descendant of the process carries it. */
  marker: string;
  directory: string;
  /** The shim on record; null before its start was recorded. */
  identity: ProcessIdentity | null;
  /** Puts the started shim on record. */
  recordStart(identity: ProcessIdentity): Promise<void>;
};

/** A command with its first input. */
export type Start = Pick<SessionSpec, 'launch' | 'prompt' | 'stdin'>;

export type ProcessState =
  | { is: 'running' }
  | { is: 'ended'; exitCode: number }
  /** It is gone and left no exit code, or it never began. */
  | { is: 'lost' };

export type ProcessEnd = {
  /** Null if it was not recorded: the shim was killed, or never ran. */
  exitCode: number | null;
  /** True if a shim claimed the directory: the command may have run. */
  claimed: boolean;
};

/** One process under supervision. */
export type Supervised = {
  /** Starts it, or finds the one that an earlier daemon started, and puts it on record. Never starts a second one. */
  begin(prepare: () => Promise<Start>, options: BeginOptions): Promise<ProcessIdentity>;
  state(): Promise<ProcessState>;
  /** Ends every process of it, with SIGKILL after the grace period. Nothing of it is left on return. */
  end(options: { graceMs: number; firstSignal?: NodeJS.Signals }): Promise<ProcessEnd>;
};

export type BeginOptions = {
  /**
   * Set if an earlier daemon may have started it although no claim is left: such processes end before another begins,
   * with this grace period.
   */
  leftoverGraceMs: number | null;
};

/**
 * Supervises a process over the lives of several daemons.
 *
 *   planned ──begin──▶ shim on record ──▶ exit code, or gone ──end──▶ nothing left
 *
 * Only the identity on record decides which process is meant: a process may write to its own directory, and the number
 * of one that is gone may be used again. `watchProcesses` reports changes in between, and `openOutput` reads the output.
 */
export function supervise(host: Host, record: ProcessRecord): Supervised {
  const { marker, directory } = record;
  let { identity } = record;
  const address = (shim: ProcessIdentity | null): SessionAddress => ({ identity: shim, dir: directory, marker });
  const isRunning = () => identity !== null && isAlive(identity);

  async function start(prepare: () => Promise<Start>, { leftoverGraceMs }: BeginOptions): Promise<ProcessIdentity> {
    if (leftoverGraceMs !== null) await stopSession(host, { ...address(null), graceMs: leftoverGraceMs });
    return startSession(host, { dir: directory, marker, ...(await prepare()) });
  }

  return {
    async begin(prepare, options) {
      if (identity !== null) return identity;
      const found = await findSession(directory);
      if (found.claimed && found.identity === null) throw damagedRecord(directory);
      const started = found.identity ?? (await start(prepare, options));
      await record.recordStart(started);
      identity = started;
      return started;
    },
    async state() {
      const { alive, exit } = await findSession(directory);
      if (exit !== null) return { is: 'ended', exitCode: exit.code };
      return { is: alive && isRunning() ? 'running' : 'lost' };
    },
    async end(options) {
      await stopSession(host, { ...address(identity), ...options });
      const { exit, claimed } = await findSession(directory);
      return { exitCode: exit?.code ?? null, claimed };
    },
  };
}
