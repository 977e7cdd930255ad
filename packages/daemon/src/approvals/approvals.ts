import { messageOf } from '@pawl/schema/error';
import type { Event } from '@pawl/schema/event';
import { nextApprovalDeadline, sessionsWithUnsent } from '@pawl/store/sessions/approvals';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { sendDecisions } from './send-decisions.ts';
import { settleApprovals } from './settle-approvals.ts';

/** Moves requests for approval on: each is judged, left to a person or closed, and its decision sent. */
export type ApprovalWatch = {
  /** Settles everything that is due. */
  tick(now?: number): Promise<void>;
  close(): Promise<void>;
};

/** Events after which a request may have to be judged, closed or sent. */
const wakingEvents: readonly Event['type'][] = [
  'approval.asked',
  'approval.referred',
  'approval.answered',
  'approval.expired',
  'session.ended',
  'run.ended',
  'agent.killed',
  'agent.ended',
];

/** A timer is never set for longer, so that it does not overflow. */
const longestTimerMs = 60 * 60_000;
const shortestTimerMs = 20;

/** Starts to watch the requests of one daemon. */
export function watchApprovals(platform: DefinitionPlatform): ApprovalWatch {
  const { store } = platform;
  /** Sessions to which this daemon has written. An earlier one may have died in the middle of a line. */
  const written = new Set<string>();
  const sending = new Map<string, Promise<void>>();
  let asked = false;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const unfollow = store.onCommit(({ events }) => {
    if (events.some(({ type }) => wakingEvents.includes(type))) wake();
  });
  const floor = setInterval(wake, platform.timing.routeMs).unref();

  function wake(): void {
    if (closed) return;
    asked = true;
    running ??= work().finally(() => (running = null));
  }

  async function work(): Promise<void> {
    while (asked && !closed) {
      asked = false;
      try {
        await tick();
        await setTimer();
      } catch (error) {
        platform.log.error({ error: messageOf(error) }, 'failed to settle requests for approval; will retry');
      }
    }
  }

  async function tick(now = platform.clock()): Promise<void> {
    await settleApprovals(platform, now);
    for (const sessionId of await sessionsWithUnsent(store.db)) send(sessionId);
  }

  /** Sends to each session apart, so that one that does not read delays no other. */
  function send(sessionId: string): void {
    if (sending.has(sessionId)) return;
    const done = sendDecisions(platform, sessionId, { freshLine: !written.has(sessionId) })
      .then((isReading) => void (isReading && written.add(sessionId)))
      .catch((error: unknown) =>
        platform.log.error({ session: sessionId, error: messageOf(error) }, 'failed to send decisions; will retry'),
      )
      .finally(() => {
        sending.delete(sessionId);
        void wakeForMore(sessionId);
      });
    sending.set(sessionId, done);
  }

  /** A decision may have been recorded while others were written. */
  async function wakeForMore(sessionId: string): Promise<void> {
    if (!closed && written.has(sessionId) && (await sessionsWithUnsent(store.db)).includes(sessionId)) wake();
  }

  async function setTimer(): Promise<void> {
    const due = await nextApprovalDeadline(store.db);
    clearTimeout(timer);
    timer = undefined;
    if (closed || due === null) return;
    timer = setTimeout(wake, pauseBefore(due - platform.clock())).unref();
  }

  wake();
  return {
    tick,
    async close() {
      closed = true;
      unfollow();
      clearInterval(floor);
      clearTimeout(timer);
      await running;
      await Promise.all(sending.values());
    },
  };
}

function pauseBefore(leftMs: number): number {
  return Math.min(longestTimerMs, Math.max(shortestTimerMs, leftMs));
}
