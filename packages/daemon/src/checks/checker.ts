import { removeWhole } from '@pawl/git/trash/remove-whole';
import type { Repository } from '@pawl/git/repository/repository';
import type { Check } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import { messageOf, PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Project } from '@pawl/schema/record';
import { checkById, insertCheck, openChecks } from '@pawl/store/changes/checks';
import type { CheckContext, CheckPlatform } from './check-context.ts';
import { createBell } from './check-context.ts';
import type { CheckBounds } from './check-limit.ts';
import { defaultBounds } from './check-limit.ts';
import { checkPlace, makeCheckPlace, namesFor, notedEnding, placedChecks } from './check-place.ts';
import { runCheck } from './check-run.ts';

export type CheckRequest = {
  project: Project;
  repository: Repository;
  commit: string;
  tree: string;
  /** The current commit of the target branch. */
  onto: string;
  changes: string[];
  config: ProjectConfig;
};

/** Runs projects' checks, each at one commit in a clone of its own. Their processes survive the daemon. */
export type Checker = {
  /** Writes the row (event check.started) and starts it. Resolves when the row exists; it continues on its own. */
  start(request: CheckRequest): Promise<Check>;
  /** Cancels a check that is no longer needed. Nothing of it is left when this resolves. */
  cancel(checkId: string, reason: string): Promise<void>;
  /** At daemon start: adopts every open check, and removes leftovers of others. */
  adopt(): Promise<void>;
  /** Retries checks that were abandoned after a transient failure, so that none stays open. */
  tend(): Promise<void>;
  /** Stops watching; the processes continue. */
  close(): Promise<void>;
};

/** A watched check; `done` resolves when nothing of it is left, or the checker was closed. */
type Job = { context: CheckContext; done: Promise<void> };

/** The checks of one daemon. Others learn of each result by its event. */
export function createChecker(platform: CheckPlatform, bounds: CheckBounds = defaultBounds): Checker {
  const jobs = new Map<string, Job>();
  let sweeping: Promise<void> = Promise.resolve();
  let closed = false;

  /** Watches a check from here on. */
  function watch(check: Check): Job {
    const known = jobs.get(check.id);
    if (known !== undefined) return known;
    const place = checkPlace(platform.home, check.id);
    const names = namesFor(place);
    const ending = notedEnding(place);
    const context = { platform, bounds, place, names, ending, bell: createBell(), isClosed: () => closed };
    const job: Job = { context, done: run(context, check.id) };
    jobs.set(check.id, job);
    return job;
  }

  async function run(context: CheckContext, checkId: string): Promise<void> {
    try {
      // Read the row again, since the previous watcher may have made progress.
      const check = await checkById(platform.store.db, checkId);
      if (check === null || check.endedAt !== null) return;
      if ((await runCheck(context, check)) === null) return;
      await removeWhole(context.place.dir);
    } catch (error) {
      platform.log.error({ check: checkId, error: messageOf(error) }, 'abandoned a check for now');
    } finally {
      jobs.delete(checkId);
    }
  }

  return {
    async start(request) {
      if (closed) throw leaving();
      const check = await recordCheck(platform, request);
      crashPoint('check.after_row');
      if (!closed) watch(check);
      return check;
    },

    async cancel(checkId, reason) {
      if (closed) throw leaving();
      const check = await checkById(platform.store.db, checkId);
      if (check === null || check.endedAt !== null) return jobs.get(checkId)?.done;
      const { context, done } = watch(check);
      context.ending ??= { outcome: 'cancelled', detail: reason };
      context.bell.ring();
      await done;
      if (closed) throw leaving();
    },

    async adopt() {
      for (const check of await openChecks(platform.store.db)) watch(check);
      // Other directories belong to checks that have ended, or never started.
      sweeping = removeLeftovers(
        platform,
        (await placedChecks(platform.home)).filter((id) => !jobs.has(id)),
      );
    },

    async tend() {
      const open = await openChecks(platform.store.db);
      if (!closed) for (const check of open) watch(check);
    },

    async close() {
      closed = true;
      for (const { context } of jobs.values()) context.bell.ring();
      await Promise.all([...jobs.values()].map(({ done }) => done));
      await sweeping;
    },
  };
}

/** Writes the row of a check, and the event. */
async function recordCheck(platform: CheckPlatform, request: CheckRequest): Promise<Check> {
  const check = plannedCheck(request);
  const place = checkPlace(platform.home, check.id);
  try {
    // Write the note first, so that a daemon that finds the row can continue the check.
    await makeCheckPlace(place, request.config.env);
    await platform.store.write(async (tx) => {
      check.plannedAt = tx.now;
      await insertCheck(tx, check);
      const { id: checkId, projectId, commit, changes } = check;
      tx.emit({ type: 'check.started', projectId, data: { checkId, commit, changes } });
    });
  } catch (error) {
    await removeWhole(place.dir);
    throw error;
  }
  return check;
}

async function removeLeftovers(platform: CheckPlatform, ids: readonly string[]): Promise<void> {
  try {
    for (const id of ids) await removeWhole(checkPlace(platform.home, id).dir);
  } catch (error) {
    platform.log.warn({ error: messageOf(error) }, 'failed to remove leftovers of checks');
  }
}

function leaving(): PawlError {
  return new PawlError('unavailable', 'The daemon is stopping.', { hint: 'Try again when it is back.' });
}

/** The initial row of a check. */
function plannedCheck({ project, commit, tree, onto, changes, config }: CheckRequest): Check {
  return {
    id: newId(),
    projectId: project.id,
    commit,
    tree,
    plan: config.plan,
    steps: config.checks,
    changes,
    onto,
    plannedAt: 0,
    startedAt: null,
    step: 0,
    stepStartedAt: null,
    pid: null,
    processStart: null,
    outputOffset: 0,
    outputBytes: 0,
    endedAt: null,
    outcome: null,
    exitCode: null,
    detail: null,
    counts: null,
  };
}
