import { removeWhole } from '@pawl/git/trash/remove-whole';
import type { Repository } from '@pawl/git/repository/repository';
import type { Check } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import { messageOf, PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Project } from '@pawl/schema/record';
import { checkById, insertCheck, openChecks } from '@pawl/store/changes/checks';
import type { Platform } from '../platform/platform.ts';
import type { CheckBench } from './check-bench.ts';
import { createBell } from './check-bench.ts';
import type { CheckBounds } from './check-limit.ts';
import { usualBounds } from './check-limit.ts';
import { checkPlace, makeCheckPlace, namesFor, notedEnding, placedChecks } from './check-place.ts';
import { runCheck } from './check-run.ts';

export type CheckRequest = {
  project: Project;
  repository: Repository;
  commit: string;
  tree: string;
  /** The target branch as it is. */
  onto: string;
  changes: string[];
  config: ProjectConfig;
};

/** Runs projects' checks, each at one commit in a clone of its own. Their processes outlive the daemon. */
export type Checker = {
  /** Writes the row (event check.started) and starts it. Resolves when the row is there; it runs on by itself. */
  start(request: CheckRequest): Promise<Check>;
  /** Ends a check that nobody needs any more: outcome 'cancelled'. Nothing of it is left when this resolves. */
  cancel(checkId: string, reason: string): Promise<void>;
  /** After a start of the daemon: takes up every check that has not ended, and removes what others have left. */
  adopt(): Promise<void>;
  /** Takes up again what was let go of by a failure that may have passed: so no check stays open with nobody to end it. */
  tend(): Promise<void>;
  /** Stops watching; the processes go on. */
  close(): Promise<void>;
};

/** A check that is looked after; `done` resolves when nothing of it is left, or the checker was closed. */
type Job = { bench: CheckBench; done: Promise<void> };

/** The checks of one daemon. The event of each result is how others hear of it. */
export function createChecker(platform: Platform, bounds: CheckBounds = usualBounds): Checker {
  const jobs = new Map<string, Job>();
  let sweeping: Promise<void> = Promise.resolve();
  let closed = false;

  /** Looks after a check from here on. */
  function takeUp(check: Check): Job {
    const known = jobs.get(check.id);
    if (known !== undefined) return known;
    const place = checkPlace(platform.home, check.id);
    const names = namesFor(place);
    const ending = notedEnding(place);
    const bench = { platform, bounds, place, names, ending, bell: createBell(), isClosed: () => closed };
    const job: Job = { bench, done: look(bench, check.id) };
    jobs.set(check.id, job);
    return job;
  }

  async function look(bench: CheckBench, checkId: string): Promise<void> {
    try {
      // Whoever looked after it before has gone, so this is how far it came.
      const check = await checkById(platform.store.db, checkId);
      if (check === null || check.endedAt !== null) return;
      if ((await runCheck(bench, check)) === null) return;
      await removeWhole(bench.place.dir);
    } catch (error) {
      platform.log.error({ check: checkId, error: messageOf(error) }, 'a check is left for now');
    } finally {
      jobs.delete(checkId);
    }
  }

  async function sweep(ids: readonly string[]): Promise<void> {
    try {
      for (const id of ids) await removeWhole(checkPlace(platform.home, id).dir);
    } catch (error) {
      platform.log.warn({ error: messageOf(error) }, 'what checks have left could not be removed');
    }
  }

  return {
    async start(request) {
      if (closed) throw leaving();
      const check = plannedCheck(request);
      const place = checkPlace(platform.home, check.id);
      try {
        // The note comes first: whoever finds the row finds what it needs to go on.
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
      crashPoint('check.after_row');
      if (!closed) takeUp(check);
      return check;
    },

    async cancel(checkId, reason) {
      if (closed) throw leaving();
      const check = await checkById(platform.store.db, checkId);
      if (check === null || check.endedAt !== null) return jobs.get(checkId)?.done;
      const { bench, done } = takeUp(check);
      bench.ending ??= { outcome: 'cancelled', detail: reason };
      bench.bell.ring();
      await done;
      if (closed) throw leaving();
    },

    async adopt() {
      for (const check of await openChecks(platform.store.db)) takeUp(check);
      // Other directories are of checks that have ended, or never began.
      sweeping = sweep((await placedChecks(platform.home)).filter((id) => !jobs.has(id)));
    },

    async tend() {
      const open = await openChecks(platform.store.db);
      if (!closed) for (const check of open) takeUp(check);
    },

    async close() {
      closed = true;
      for (const { bench } of jobs.values()) bench.bell.ring();
      await Promise.all([...jobs.values()].map(({ done }) => done));
      await sweeping;
    },
  };
}

function leaving(): PawlError {
  return new PawlError('unavailable', 'The daemon leaves.', { hint: 'Try again when it is back.' });
}

/** The row of a check before anything of it exists. */
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
