import { addCounts } from '@pawl/core/guard/runner/runner';
import { makeCheckClone } from '@pawl/git/merge/check-clone';
import { removeWhole } from '@pawl/git/trash/remove-whole';
import { exists } from '@pawl/host/session/session-files';
import type { Check } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import { messageOf, PawlError } from '@pawl/schema/error';
import { projectById } from '@pawl/store/projects/projects';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { homeSecrets } from '../accounts/redaction.ts';
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';
import type { CheckContext } from './check-context.ts';
import { LeftToNext, note, untilThereIsRoom } from './check-context.ts';
import { countStep } from './check-count.ts';
import type { CheckEnd } from './check-end.ts';
import { recordEnd } from './check-end.ts';
import { checkSecrets } from './check-environment.ts';
import { checkLimits } from './check-limit.ts';
import { openCheckOutput } from './check-output.ts';
import type { CheckOutput } from './check-output.ts';
import type { Ending } from './check-place.ts';
import { freePlace, noteEnding } from './check-place.ts';
import { withNetworkHint } from './check-sandbox.ts';
import { beginStep, endStep, printedBytes, watchStep } from './check-step.ts';
import type { Verdict } from './check-verdict.ts';
import { failed, judgeStep } from './check-verdict.ts';

/**
 * Runs the rest of a check, and records its result. Each step starts and ends with a stored fact, so after a crash a
 * new call continues:
 *   planned ──clone──▶ stepStartedAt ──process──▶ pid ──exit──▶ the next step, or endedAt
 * Returns the ended check, or null if it was left to the next daemon.
 */
export async function runCheck(context: CheckContext, planned: Check): Promise<Check | null> {
  let check = planned;
  const end = (how: CheckEnd) => recordEnd(context, check, how);
  try {
    if (check.stepStartedAt === null) {
      const problem = context.ending ?? (await makeClone(context, check));
      if (problem !== null) return await end({ ...problem, exitCode: null, counts: null });
      check = await note(context, check, (now) => ({ startedAt: now, stepStartedAt: now }));
    }
    for (;;) {
      const { verdict, ...rest } = await runStep(context, check);
      const counts = addCounts(check.counts, rest.counts);
      check = rest.check;
      if (verdict.outcome !== null) return await end({ ...verdict, exitCode: rest.exitCode, counts });
      const fresh = { pid: null, processStart: null, outputOffset: 0 };
      const step = check.step + 1;
      check = await note(context, check, (now) => ({ ...fresh, step, counts, stepStartedAt: now }));
    }
  } catch (error) {
    if (error instanceof LeftToNext || context.isClosed()) return null;
    context.platform.log.error({ check: check.id, error: messageOf(error) }, 'failed to continue a check');
    await endStep(context, check, 0).catch((reason: unknown) =>
      context.platform.log.error({ error: messageOf(reason) }),
    );
    return end({ ...failed(check, messageOf(error)), exitCode: null, counts: null });
  }
}

/** Creates the clone, after removing leftovers of an earlier attempt. Returns why it could not be created. */
async function makeClone({ platform, place, isClosed }: CheckContext, check: Check): Promise<Ending | null> {
  if (check.steps.length === 0) return { outcome: 'failed', detail: 'there are no commands to run' };
  try {
    const project = await projectById(platform.store.db, check.projectId);
    if (project === null) throw new PawlError('project_not_found', 'the project is gone');
    const ownDir = ownGitDirectory(platform.home, project.id);
    await makeCheckClone(await repositoryOf(platform, project), { ownDir, commit: check.commit, dir: place.tree });
    crashPoint('check.after_clone');
    return null;
  } catch (error) {
    if (isClosed()) throw new LeftToNext();
    const reason = `its clone could not be created: ${messageOf(error)}${await lackOfRoom(place.dir)}`;
    // This frees space for the result.
    await removeWhole(place.tree);
    return { outcome: 'failed', detail: reason.slice(0, checkLimits.detailCharacters) };
  }
}

/** Adds what git does not report: that the disk is almost full. */
async function lackOfRoom(dir: string): Promise<string> {
  const { bavail, bsize } = await statfs(dir);
  const left = Math.floor((bavail * bsize) / (1024 * 1024));
  return left < checkLimits.lowDiskMegabytes ? ` (the disk has ${left} MB left)` : '';
}

type StepEnd = Pick<CheckEnd, 'exitCode' | 'counts'> & { check: Check; verdict: Verdict };

/** Runs or continues to watch a check's current step, until nothing of it runs and its output is stored. */
async function runStep(context: CheckContext, at: Check): Promise<StepEnd> {
  const { platform, bounds, place } = context;
  const directory = place.step(at.step);
  const { check, problem } = await tryToBegin(context, at);
  const secrets = [...checkSecrets(platform.environment, context.names), ...homeSecrets(platform)];
  const output = openCheckOutput({ store: platform.store, check, directory, secrets, bounds });
  try {
    const ending = problem ?? (await watchStep(context, check, output));
    if (ending !== null) await noteQuietly(context, ending);
    // A step that prints too much gets no grace period to print more.
    const graceMs = printedBytes(context, check) > bounds.printBytes ? 0 : bounds.graceMs;
    const { exitCode } = await endStep(context, check, graceMs);
    const hasClone = exists(join(place.tree, '.git'));
    const printed = Math.max(printedBytes(context, check), output.stored().outputBytes);
    const judged = judgeStep(check, { ending, exitCode, hasClone, printedBytes: printed });
    const verdict = ending === null ? await withNetworkHint(context, check, judged, output) : judged;
    const counts = hasClone && ending === null ? await countStep(place, check, output) : null;
    crashPoint('check.after_exit');
    await storeRest(context, output, verdict);
    return { check: { ...check, ...output.stored() }, verdict, exitCode, counts };
  } finally {
    output.close();
  }
}

/** A failure to start fails the check. */
async function tryToBegin(context: CheckContext, check: Check): Promise<{ check: Check; problem: Ending | null }> {
  try {
    if (context.ending !== null) return { check, problem: context.ending };
    return { check: await beginStep(context, check), problem: null };
  } catch (error) {
    if (error instanceof LeftToNext) throw error;
    return { check, problem: failed(check, `it could not be started: ${messageOf(error)}`) };
  }
}

/** Records why a check is ended. A full disk, or a check that has deleted its directory, must not prevent ending it. */
async function noteQuietly({ platform, place }: CheckContext, ending: Ending): Promise<void> {
  try {
    await noteEnding(place, ending);
  } catch (error) {
    platform.log.warn({ error: messageOf(error) }, 'failed to record why a check is ended');
  }
}

/**
 * Stores the output to its last byte. A check that has filled the disk is over, so its own files are removed first to
 * make room.
 */
async function storeRest(context: CheckContext, output: CheckOutput, verdict: Verdict): Promise<void> {
  const isOver = verdict.outcome !== null;
  await untilThereIsRoom(context, () => output.takeEnd(), isOver ? () => freePlace(context.place) : undefined);
}
