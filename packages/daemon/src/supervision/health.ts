import { createSerial } from '@pawl/core/sessions/turn-taking';
import { messageOf } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { pruneMailboxes } from '../mail/files/prune-mailboxes.ts';
import { forgetRefused } from '../mail/files/refused-files.ts';
import type { Reconciler } from '../sessions/reconcile/reconciler.ts';
import { forgetRequests } from '../platform/idempotency.ts';
import type { Leaving } from './leaving.ts';
import type { ProjectCrews } from '../projects/project-crew.ts';
import type { Signals } from '../agents/signals.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import { putAwayOrphans, putAwaySpills } from './put-away.ts';
import { restartCrashed } from './restart.ts';
import { watchProgress } from './stuck.ts';

/** The fallback for lost wakes: finds everything that should be running and is not. */
export type Health = {
  /** Runs all checks once. A failing one does not block the others. */
  tick(now?: number): Promise<void>;
};

export function createHealth(
  platform: SessionPlatform,
  parts: {
    reconciler: Reconciler;
    signals: Pick<Signals, 'resume'>;
    crews: Pick<ProjectCrews, 'tend'>;
    leaving: Pick<Leaving, 'tend'>;
  },
): Health {
  const { reconciler } = parts;
  const serially = createSerial();
  const stuck = watchProgress(platform, reconciler.ingest);
  let lastLookAt: number | null = null;
  let putAwayAt: number | null = null;

  /**
   * Wakes every agent with a pending step: dead sessions, worktrees to create or clean up, completed agents that still
   * live.
   */
  async function wakeUnsettled(elapsedMs: number): Promise<void> {
    await stuck.look(await reconciler.sweep(), elapsedMs);
  }

  /** Looks for orphaned data less often: it must be a day old anyway. */
  async function putAway(now: number): Promise<void> {
    const sinceMs = putAwayAt === null ? Infinity : now - putAwayAt;
    if (sinceMs >= 0 && sinceMs < limits.leftoverLookMs) return;
    putAwayAt = now;
    await attempt('orphaned worktrees', () => putAwayOrphans(platform, now));
    await attempt('texts of long mails', () => putAwaySpills(platform, now));
    await attempt('requests that were done', () => forgetRequests(platform.store, now));
    await attempt('files that were refused', () => forgetRefused(platform, now));
  }

  async function attempt(what: string, act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      platform.log.error({ what, error: messageOf(error) }, 'health check failed; the next one retries');
    }
  }

  return {
    tick: (now = platform.clock()) =>
      serially(async () => {
        const elapsedMs = lastLookAt === null ? 0 : now - lastLookAt;
        lastLookAt = now;
        await attempt('unsettled agents', () => wakeUnsettled(elapsedMs));
        await attempt('agents that are done', () => parts.leaving.tend());
        await attempt('crews', () => parts.crews.tend());
        await attempt('crashed agents', () => restartCrashed(platform, parts, now));
        await attempt('mailboxes of the dead', () => pruneMailboxes(platform));
        await putAway(now);
      }),
  };
}
