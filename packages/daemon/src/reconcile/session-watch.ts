import { totalUsage } from '@pawl/core/usage';
import type { ProcessIdentity } from '@pawl/host/identity';
import { isAlive } from '@pawl/host/identity';
import { closeInput } from '@pawl/host/input';
import { sessionFile } from '@pawl/host/session-files';
import { stopSession } from '@pawl/host/stop-session';
import { outputParsers } from '@pawl/providers/parser';
import { messageOf } from '@pawl/schema/error';
import type { Agent, Session } from '@pawl/schema/record';
import { sessionOffsets, sessionsOf } from '@pawl/store/sessions';
import { existsSync } from 'node:fs';
import type { Ingest } from '../ingest/ingest.ts';
import { startIngest } from '../ingest/ingest.ts';
import { readSignal } from '../signal-file.ts';
import type { Workshop } from '../workshop.ts';
import { sessionDirectory } from '../workshop.ts';

/** The sessions that run: their output is taken in, and whoever leaves, dies or hangs is noticed. */
export type SessionWatch = {
  ingest: Ingest;
  has(sessionId: string): boolean;
  /** Begins, or goes on, to look after a running session. */
  attach(agent: Agent, session: Session): Promise<void>;
  /** The session is over; nothing of it is looked at any more. */
  release(sessionId: string): void;
  /** Ends every process of a session. */
  endProcesses(agent: Agent, session: Session): Promise<void>;
  close(): Promise<void>;
};

type Watched = { agent: Agent; session: Session; leaving: boolean; signalSeenAtMs: number | null };

/** `onLeft` is called when a session's process may have left; it is advice, and may come twice. */
export function watchSessions(shop: Workshop, onLeft: (agentId: string) => void): SessionWatch {
  const watched = new Map<string, Watched>();
  const directoryOf = (sessionId: string) => sessionDirectory(shop.home, sessionId);
  const ingest = startIngest({
    store: shop.store,
    onChange: checkExit,
    onTurnEnded: (sessionId) => void endInput(sessionId),
    onTrouble: (error) => shop.log.error({ error: messageOf(error) }, 'output could not be stored; it is tried again'),
  });
  const timers = [
    setInterval(() => void forEachSession(checkAlive), shop.timing.livenessMs),
    setInterval(() => void forEachSession(endHung), shop.timing.hungAfterSignalMs / 4),
  ];
  for (const timer of timers) timer.unref();

  function checkExit(sessionId: string): void {
    const entry = watched.get(sessionId);
    if (entry === undefined || entry.leaving || !existsSync(sessionFile(directoryOf(sessionId), 'exit'))) return;
    entry.leaving = true;
    onLeft(entry.agent.id);
  }

  /** The turn is over: the process may leave, and is resumed for the next one. Between turns an agent is only a row. */
  async function endInput(sessionId: string): Promise<void> {
    try {
      await closeInput(directoryOf(sessionId));
    } catch (error) {
      shop.log.debug({ session: sessionId, error: messageOf(error) }, 'the input was closed already');
    }
  }

  async function forEachSession(look: (entry: Watched) => void | Promise<void>): Promise<void> {
    for (const entry of watched.values()) {
      try {
        await look(entry);
      } catch (error) {
        shop.log.error({ agent: entry.agent.alias, error: messageOf(error) }, 'a look at a session failed');
      }
    }
  }

  /** The poll floor: who has died without a word. */
  function checkAlive({ agent, session }: Watched): void {
    if (!isRunning(session)) onLeft(agent.id);
  }

  /** Who has said that it is done, but does not leave. */
  async function endHung(entry: Watched): Promise<void> {
    const { agent, session } = entry;
    if (agent.worktree === null || (await readSignal(agent.worktree)) === null)
      return void (entry.signalSeenAtMs = null);
    entry.signalSeenAtMs ??= performance.now();
    if (performance.now() - entry.signalSeenAtMs < shop.timing.hungAfterSignalMs || !watched.has(session.id)) return;
    await endProcesses(agent, session);
    onLeft(agent.id);
  }

  async function endProcesses(agent: Agent, session: Session): Promise<void> {
    await stopSession({
      identity: identityOf(session),
      dir: directoryOf(session.id),
      marker: session.id,
      firstSignal: shop.providers.get(agent.provider ?? '').firstSignal,
      graceMs: shop.timing.stopGraceMs,
    });
  }

  return {
    ingest,
    has: (sessionId) => watched.has(sessionId),
    async attach(agent, session) {
      if (watched.has(session.id)) return;
      const preset = shop.providers.get(agent.provider ?? '');
      const earlier = (await sessionsOf(shop.store.db, agent.id)).filter((each) => each.no < session.no);
      await ingest.attach({
        agent,
        session,
        directory: directoryOf(session.id),
        parser: outputParsers[preset.outputFormat],
        usageScope: preset.usageScope,
        earlierUsage: totalUsage(earlier.map((each) => each.usage)),
        offsets: await sessionOffsets(shop.store.db, session.id),
      });
      watched.set(session.id, { agent, session, leaving: false, signalSeenAtMs: null });
    },
    release: (sessionId) => void watched.delete(sessionId),
    endProcesses,
    async close() {
      for (const timer of timers) clearInterval(timer);
      await ingest.close();
    },
  };
}

/** The recorded process of a session, if it was recorded. */
function identityOf({ pid, processStart }: Session): ProcessIdentity | null {
  return pid === null || processStart === null ? null : { pid, start: processStart };
}

/** True when the process that was recorded for a session, and no other of that number, runs. */
export function isRunning(session: Session): boolean {
  const identity = identityOf(session);
  return identity !== null && isAlive(identity);
}
