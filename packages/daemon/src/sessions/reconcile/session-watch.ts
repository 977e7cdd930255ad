import { isAlive } from '@pawl/host/process/identity';
import { closeInput } from '@pawl/host/session/input';
import { sessionFile } from '@pawl/host/session/session-files';
import { stopSession } from '@pawl/host/session/stop-session';
import { messageOf, PawlError } from '@pawl/schema/error';
import type { Agent, Session } from '@pawl/schema/record';
import { existsSync } from 'node:fs';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { identityOf, sessionDirectory } from '../../platform/platform.ts';
import type { Ingest } from '../ingest/ingest.ts';
import { startIngest } from '../ingest/ingest.ts';
import { intakeTargetOf } from './intake-target.ts';
import type { PaceParts, Watched, WatchListeners } from './session-pace.ts';
import { checkHung, checkPace } from './session-pace.ts';
import { hasBudget } from './spending.ts';

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

/** Looks after the sessions of one daemon. */
export function watchSessions(platform: SessionPlatform, listeners: WatchListeners): SessionWatch {
  const { onLeft, onSpent } = listeners;
  const watched = new Map<string, Watched>();
  const inputsToEnd = new Set<string>();
  const directoryOf = (sessionId: string) => sessionDirectory(platform.home, sessionId);
  const ingest = startIngest({
    store: platform.store,
    prompts: platform.prompts,
    onChange: checkExit,
    onTurnEnded: (sessionId) => void endInput(sessionId),
    onUsage(sessionId) {
      const entry = watched.get(sessionId);
      if (entry !== undefined && hasBudget(platform, entry.agent)) onSpent(entry.agent.id);
    },
    onTrouble: (reason) => platform.log.error({ reason }, 'output could not be stored; it is tried again'),
  });
  const parts: PaceParts = { platform, ingest, listeners };
  const timers = [
    setInterval(() => void forEachSession(checkAlive), platform.timing.livenessMs),
    setInterval(() => void forEachSession((entry) => checkPace(parts, entry)), platform.timing.livenessMs),
    setInterval(() => void forEachSession((entry) => checkHung(parts, entry)), platform.timing.hungAfterSignalMs / 4),
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
      await closeInput(platform.host, directoryOf(sessionId));
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
        platform.log.error({ agent: entry.agent.alias, error: messageOf(error) }, 'a look at a session failed');
      }
    }
  }

  /** The poll floor: who has died without a word, and who still waits for more input. */
  async function checkAlive({ agent, session }: Watched): Promise<void> {
    if (!isRunning(session)) onLeft(agent.id);
    else if (inputsToEnd.has(session.id)) await endInput(session.id);
  }

  return {
    ingest,
    has: (sessionId) => watched.has(sessionId),
    async attach(agent, session) {
      if (watched.has(session.id)) return;
      await ingest.attach(await intakeTargetOf(platform, agent, session));
      watched.set(session.id, { agent, session, leaving: false, signalSeenAtMs: null, silent: false });
    },
    release(sessionId) {
      watched.delete(sessionId);
      inputsToEnd.delete(sessionId);
    },
    endProcesses: (agent, session) => endProcesses(platform, agent, session),
    async close() {
      for (const timer of timers) clearInterval(timer);
      await ingest.close();
    },
  };
}

async function endProcesses(platform: SessionPlatform, agent: Agent, session: Session): Promise<void> {
  await stopSession(platform.host, {
    identity: identityOf(session),
    dir: sessionDirectory(platform.home, session.id),
    marker: session.id,
    firstSignal: platform.providers.find(agent.provider)?.firstSignal ?? 'SIGTERM',
    graceMs: platform.timing.stopGraceMs,
  });
}

/** True when the process that was recorded for a session, and no other of that number, runs. */
export function isRunning(session: Session): boolean {
  const identity = identityOf(session);
  return identity !== null && isAlive(identity);
}
