import { closeInput } from '@pawl/host/session/input';
import { messageOf, PawlError } from '@pawl/schema/error';
import type { Agent, Session } from '@pawl/schema/record';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { sessionDirectory } from '../../platform/platform.ts';
import type { Ingest } from '../ingest/ingest.ts';
import { startIngest } from '../ingest/ingest.ts';
import { intakeTargetOf } from './intake-target.ts';
import type { PaceParts, Watched, WatchListeners } from './session-pace.ts';
import { checkHung, checkPace } from './session-pace.ts';
import { processOf } from './session-process.ts';
import { hasBudget } from './spending.ts';

/** The running sessions: ingests their output, and notices when they exit, die or hang. */
export type SessionWatch = {
  ingest: Ingest;
  has(sessionId: string): boolean;
  /** Starts or continues watching a running session. */
  attach(agent: Agent, session: Session): Promise<void>;
  /** Stops watching an ended session. */
  release(sessionId: string): void;
  /** Ends every process of a session. */
  endProcesses(agent: Agent, session: Session): Promise<void>;
  close(): Promise<void>;
};

export function watchSessions(platform: SessionPlatform, listeners: WatchListeners): SessionWatch {
  const { onLeft, onSpent } = listeners;
  const watched = new Map<string, Watched>();
  const inputsToEnd = new Set<string>();
  const directoryOf = (sessionId: string) => sessionDirectory(platform.home, sessionId);
  const ingest = startIngest({
    store: platform.store,
    prompts: platform.prompts,
    livenessMs: platform.timing.livenessMs,
    onLeft(sessionId) {
      const entry = watched.get(sessionId);
      if (entry !== undefined) onLeft(entry.agent.id);
    },
    onError: (error) => platform.log.error({ error: messageOf(error) }, 'a session could not be looked at'),
    onTurnEnded: (sessionId) => void endInput(sessionId),
    onUsage(sessionId) {
      const entry = watched.get(sessionId);
      if (entry !== undefined && hasBudget(platform, entry.agent)) onSpent(entry.agent.id);
    },
    onTrouble: (reason) => platform.log.error({ reason }, 'failed to store output; will retry'),
  });
  const parts: PaceParts = { platform, ingest, listeners };
  const hungMs = Math.min(platform.timing.hungAfterSignalMs, platform.timing.hungAfterResultMs);
  const timers = [
    setInterval(() => void endInputs(), platform.timing.livenessMs),
    setInterval(() => void forEachSession((entry) => checkPace(parts, entry)), platform.timing.livenessMs),
    setInterval(() => void forEachSession((entry) => checkHung(parts, entry)), hungMs / 4),
  ];
  for (const timer of timers) timer.unref();

  /** The turn is over: the process may exit, and is resumed for the next one. Between turns an agent is only a row. */
  async function endInput(sessionId: string): Promise<void> {
    inputsToEnd.add(sessionId);
    try {
      await closeInput(platform.host, directoryOf(sessionId));
    } catch (error) {
      // The process no longer reads, which is fine. Anything else is retried with the next check.
      if (!(error instanceof PawlError && error.code === 'conflict')) return;
    }
    inputsToEnd.delete(sessionId);
  }

  /** Closes the inputs that could not be closed before. */
  async function endInputs(): Promise<void> {
    for (const sessionId of inputsToEnd) await endInput(sessionId);
  }

  async function forEachSession(look: (entry: Watched) => void | Promise<void>): Promise<void> {
    for (const entry of watched.values()) {
      try {
        await look(entry);
      } catch (error) {
        platform.log.error({ agent: entry.agent.alias, error: messageOf(error) }, 'failed to check a session');
      }
    }
  }

  return {
    ingest,
    has: (sessionId) => watched.has(sessionId),
    async attach(agent, session) {
      if (watched.has(session.id)) return;
      await ingest.attach(await intakeTargetOf(platform, agent, session));
      watched.set(session.id, { agent, session, signalSeenAtMs: null, silent: false });
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
  const firstSignal = platform.providers.find(agent.provider)?.firstSignal ?? 'SIGTERM';
  await processOf(platform, agent, session).end({ firstSignal, graceMs: platform.timing.stopGraceMs });
}
