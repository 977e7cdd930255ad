import { openToolsIn } from '@pawl/core/history';
import { totalUsage } from '@pawl/core/usage';
import { isAlive } from '@pawl/host/identity';
import { closeInput } from '@pawl/host/input';
import { sessionFile } from '@pawl/host/session-files';
import { stopSession } from '@pawl/host/stop-session';
import { outputParsers } from '@pawl/providers/parser';
import { messageOf, PawlError } from '@pawl/schema/error';
import type { Agent, Session } from '@pawl/schema/record';
import { countSessionMessages, toolMessages } from '@pawl/store/messages';
import { sessionOffsets, sessionsOf } from '@pawl/store/sessions';
import { existsSync } from 'node:fs';
import type { Ingest } from '../ingest/ingest.ts';
import { startIngest } from '../ingest/ingest.ts';
import { readPlacedSignal } from '../signal-file.ts';
import type { Workshop } from '../workshop.ts';
import { identityOf, sessionDirectory } from '../workshop.ts';

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

/**
 * `onLeft` is called when a session's process may have left, `onHung` when it should have. Both are advice, and may come
 * twice.
 */
export function watchSessions(
  shop: Workshop,
  onLeft: (agentId: string) => void,
  onHung: (agentId: string, sessionId: string) => void,
): SessionWatch {
  const watched = new Map<string, Watched>();
  const inputsToEnd = new Set<string>();
  const directoryOf = (sessionId: string) => sessionDirectory(shop.home, sessionId);
  const ingest = startIngest({
    store: shop.store,
    onChange: checkExit,
    onTurnEnded: (sessionId) => void endInput(sessionId),
    onTrouble: (reason) => shop.log.error({ reason }, 'output could not be stored; it is tried again'),
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
    inputsToEnd.add(sessionId);
    try {
      await closeInput(directoryOf(sessionId));
    } catch (error) {
      // Nobody reads there any more: so be it. Anything else is tried again with the next look.
      if (!(error instanceof PawlError && error.code === 'conflict')) return;
    }
    inputsToEnd.delete(sessionId);
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

  /** The poll floor: who has died without a word, and who still waits for more input. */
  async function checkAlive({ agent, session }: Watched): Promise<void> {
    if (!isRunning(session)) onLeft(agent.id);
    else if (inputsToEnd.has(session.id)) await endInput(session.id);
  }

  /** Who has said that it is done, but does not leave. */
  async function endHung(entry: Watched): Promise<void> {
    const { agent, session } = entry;
    if (agent.worktree === null || (await readPlacedSignal(agent.worktree)) === null)
      return void (entry.signalSeenAtMs = null);
    entry.signalSeenAtMs ??= performance.now();
    if (performance.now() - entry.signalSeenAtMs < shop.timing.hungAfterSignalMs || !watched.has(session.id)) return;
    onHung(agent.id, session.id);
  }

  async function endProcesses(agent: Agent, session: Session): Promise<void> {
    await stopSession({
      identity: identityOf(session),
      dir: directoryOf(session.id),
      marker: session.id,
      firstSignal: shop.providers.find(agent.provider)?.firstSignal ?? 'SIGTERM',
      graceMs: shop.timing.stopGraceMs,
    });
  }

  return {
    ingest,
    has: (sessionId) => watched.has(sessionId),
    async attach(agent, session) {
      if (watched.has(session.id)) return;
      // A provider that this program does not know is looked after all the same, without reading its output.
      const preset = shop.providers.find(agent.provider);
      const earlier = (await sessionsOf(shop.store.db, agent.id)).filter((each) => each.no < session.no);
      await ingest.attach({
        agent,
        session,
        directory: directoryOf(session.id),
        parser: outputParsers[preset?.outputFormat ?? 'text'],
        usageScope: preset?.usageScope ?? 'session',
        earlierUsage: totalUsage(earlier.map((each) => each.usage)),
        messages: await countSessionMessages(shop.store.db, agent.id, session.id),
        openTools: await runningTools(shop, agent, session),
        offsets: await sessionOffsets(shop.store.db, session.id),
      });
      watched.set(session.id, { agent, session, leaving: false, signalSeenAtMs: null });
    },
    release(sessionId) {
      watched.delete(sessionId);
      inputsToEnd.delete(sessionId);
    },
    endProcesses,
    async close() {
      for (const timer of timers) clearInterval(timer);
      await ingest.close();
    },
  };
}

/** The tools of a session that ran when its output was last looked at, from what is stored of it. */
async function runningTools(shop: Workshop, agent: Agent, session: Session): Promise<Map<string, string>> {
  if (session.startedAt === null) return new Map();
  return openToolsIn(await toolMessages(shop.store.db, agent.id, session.id)).open;
}

/** True when the process that was recorded for a session, and no other of that number, runs. */
export function isRunning(session: Session): boolean {
  const identity = identityOf(session);
  return identity !== null && isAlive(identity);
}
