import type { PromptAssets } from '@pawl/core/prompts/assets';
import { createSerial } from '@pawl/core/sessions/turn-taking';
import { watchProcesses } from '@pawl/host/supervise/watch-processes';
import { PawlError } from '@pawl/schema/error';
import { noLimits } from '@pawl/schema/launch-spec';
import type { LiveState } from '@pawl/schema/status';
import type { Store } from '@pawl/store/store';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { identityOf } from '../../platform/platform.ts';
import type { IntakeTarget, Shown } from './batch.ts';
import type { Storing } from './commit-batches.ts';
import { drainOnce } from './commit-batches.ts';
import { createIngestTicks, retryMs } from './ingest-ticks.ts';
import type { Intake, Pace, TurnState } from './intake.ts';
import { openIntake } from './intake.ts';

/** The only place where output becomes chunks and facts. */
export type Ingest = {
  /** Starts or continues ingesting a session's output. */
  attach(target: IntakeTarget): Promise<void>;
  /** Stores a session's output to the last byte, once nothing writes to it any more, and releases it. */
  finish(sessionId: string): Promise<void>;
  live(agentId: string): LiveState | undefined;
  /** The tools and answer in progress of an agent; empty if no session runs. */
  turn(agentId: string): TurnState;
  /** True while an agent's process is in a turn, so that it reads its input. */
  isInTurn(agentId: string): boolean;
  /** Whether it is silent, or its provider has reported a limit. */
  pace(agentId: string): Pace;
  /** Stores an agent's output so far. */
  catchUp(agentId: string): Promise<void>;
  /** Calls the listener with what followers see, after the output is stored. Returns an unsubscribe function. */
  onShown(listener: ShownListener): () => void;
  /** Why output cannot be stored now, such as a full disk; or null. */
  trouble(): string | null;
  close(): Promise<void>;
};

export type ShownListener = (target: IntakeTarget, shown: readonly Shown[]) => void;

export type IngestOptions = {
  store: Store;
  prompts: PromptAssets;
  /** The session's process may have exited. */
  onLeft(sessionId: string): void;
  /** The provider has ended its turn; its output is durable. */
  onTurnEnded(sessionId: string): void;
  /** The usage of a session has changed; that is durable. */
  onUsage(sessionId: string): void;
  /** Output cannot be stored, for a new reason. */
  onTrouble(reason: string): void;
  /** A process could not be checked; the next check follows. */
  onError(error: unknown): void;
  livenessMs?: number;
};

/** Watches sessions' files and stores new output: one commit per tick for all sessions. */
export function startIngest(options: IngestOptions): Ingest {
  const intakes = new Map<string, Intake>();
  const byDirectory = new Map<string, string>();
  const byAgent = new Map<string, Intake>();
  const storing: Storing = { options, expectsMail: new Set(), followers: new Set(), trouble: null };
  // Ticks and final reads take turns, since two readers of one file would take each other's bytes.
  const serially = createSerial();
  const ticks = createIngestTicks({ intakes, storing, serially });
  let closed = false;
  const whose = (directory: string, tell: (sessionId: string) => void) => {
    const sessionId = byDirectory.get(directory);
    if (sessionId !== undefined) tell(sessionId);
  };
  const watch = watchProcesses(
    {
      onChange: (directory) => whose(directory, ticks.wake),
      onLeft: (directory) => whose(directory, options.onLeft),
      onLimit: () => undefined,
      onError: options.onError,
    },
    { livenessMs: options.livenessMs },
  );

  /** Stores the rest of an ended session; fails when the daemon stops, and the next one does it. */
  async function drain(intake: Intake): Promise<void> {
    for (;;) {
      const drained = await serially(async () => {
        if (closed) throw new PawlError('unavailable', 'The daemon is stopping; the next one stores the rest.');
        return drainOnce(storing, intake);
      });
      if (drained === 'empty') return;
      // Do not block other sessions while the store is full.
      await (drained === 'failed' ? delay(retryMs) : nextTurn());
    }
  }

  return {
    async attach(target) {
      if (intakes.has(target.session.id)) return;
      const intake = openIntake(target);
      intakes.set(target.session.id, intake);
      byDirectory.set(target.directory, target.session.id);
      byAgent.set(target.agent.id, intake);
      storing.expectsMail.add(target.session.id);
      watch.add({ directory: target.directory, identity: identityOf(target.session), limits: noLimits, ranMs: 0 });
      if (intake.turnEnded()) options.onTurnEnded(target.session.id);
    },
    async finish(sessionId) {
      const intake = intakes.get(sessionId);
      if (intake === undefined) return;
      const { agent, directory } = intake.target;
      await drain(intake);
      for (const known of [intakes, storing.expectsMail]) known.delete(sessionId);
      byDirectory.delete(directory);
      byAgent.delete(agent.id);
      watch.remove(directory);
      intake.close();
    },
    live: (agentId) => byAgent.get(agentId)?.live(),
    turn: (agentId) => byAgent.get(agentId)?.turn() ?? { tools: [], answering: false },
    isInTurn: (agentId) => byAgent.get(agentId)?.turnEnded() === false,
    pace: (agentId) => byAgent.get(agentId)?.pace() ?? { silentMs: 0, lingeringMs: 0, limitedMs: 0, turnBegunMs: 0 },
    async catchUp(agentId) {
      const intake = byAgent.get(agentId);
      if (intake === undefined) return;
      // It may end meanwhile; then its files are closed.
      for (let more = true; more;) more = await ticks.takeOne(intake, () => byAgent.get(agentId) === intake);
    },
    onShown: (listener) => addFollower(storing, listener),
    trouble: () => storing.trouble,
    async close() {
      closed = true;
      ticks.stop();
      watch.close();
      await serially(async () => {
        for (const intake of intakes.values()) intake.close();
      });
    },
  };
}

function addFollower({ followers }: Storing, listener: ShownListener): () => void {
  followers.add(listener);
  return () => void followers.delete(listener);
}
