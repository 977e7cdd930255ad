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
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';
import type { CheckBench } from './check-bench.ts';
import { LeftToNext, note, untilThereIsRoom } from './check-bench.ts';
import { countStep } from './check-count.ts';
import type { CheckEnd } from './check-end.ts';
import { recordEnd } from './check-end.ts';
import { checkSecrets } from './check-environment.ts';
import { checkLimits } from './check-limit.ts';
import { openCheckOutput } from './check-output.ts';
import type { CheckOutput } from './check-output.ts';
import type { Ending } from './check-place.ts';
import { freePlace, noteEnding } from './check-place.ts';
import { beginStep, endStep, printedBytes, watchStep } from './check-step.ts';
import type { Verdict } from './check-verdict.ts';
import { failed, judgeStep } from './check-verdict.ts';

/**
 * Does what is left to do of a check, and puts its result on record. Each step of it begins and ends with a fact of the row,
 * so whoever calls this after a crash goes on where it was:
 *
 *   planned ──clone──▶ stepStartedAt ──process──▶ pid ──exit──▶ the next step, or endedAt
 *
 * Returns the ended check, or null when it was left to the next daemon.
 */
export async function runCheck(bench: CheckBench, planned: Check): Promise<Check | null> {
  let check = planned;
  const end = (how: CheckEnd) => recordEnd(bench, check, how);
  try {
    if (check.stepStartedAt === null) {
      const problem = bench.ending ?? (await makeClone(bench, check));
      if (problem !== null) return await end({ ...problem, exitCode: null, counts: null });
      check = await note(bench, check, (now) => ({ startedAt: now, stepStartedAt: now }));
    }
    for (;;) {
      const { verdict, ...rest } = await runStep(bench, check);
      const counts = addCounts(check.counts, rest.counts);
      check = rest.check;
      if (verdict.outcome !== null) return await end({ ...verdict, exitCode: rest.exitCode, counts });
      const fresh = { pid: null, processStart: null, outputOffset: 0 };
      const step = check.step + 1;
      check = await note(bench, check, (now) => ({ ...fresh, step, counts, stepStartedAt: now }));
    }
  } catch (error) {
    if (error instanceof LeftToNext || bench.isClosed()) return null;
    bench.platform.log.error({ check: check.id, error: messageOf(error) }, 'a check could not be gone on with');
    await endStep(bench, check, 0).catch((reason: unknown) => bench.platform.log.error({ error: messageOf(reason) }));
    return end({ ...failed(check, messageOf(error)), exitCode: null, counts: null });
  }
}

/** Makes the clone, after what an earlier try may have left of it. Returns why it could not be made. */
async function makeClone({ platform, place, isClosed }: CheckBench, check: Check): Promise<Ending | null> {
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
    const reason = `its clone could not be made: ${messageOf(error)}${await lackOfRoom(place.dir)}`;
    // It makes room for the result.
    await removeWhole(place.tree);
    return { outcome: 'failed', detail: reason.slice(0, checkLimits.detailCharacters) };
  }
}

/** What git does not say: that there is hardly any room left. */
async function lackOfRoom(dir: string): Promise<string> {
  const { bavail, bsize } = await statfs(dir);
  const left = Math.floor((bavail * bsize) / (1024 * 1024));
  return left < checkLimits.lowDiskMegabytes ? ` (the disk has ${left} MB left)` : '';
}

type StepEnd = Pick<CheckEnd, 'exitCode' | 'counts'> & { check: Check; verdict: Verdict };

/** Runs the step that a check is at, or goes on watching it, until nothing of it is left and its output is stored. */
async function runStep(bench: CheckBench, at: Check): Promise<StepEnd> {
  const { platform, bounds, place } = bench;
  const directory = place.step(at.step);
  const { check, problem } = await tryToBegin(bench, at);
  const secrets = checkSecrets(platform.environment, bench.names);
  const output = openCheckOutput({ store: platform.store, check, directory, secrets, bounds });
  try {
    const ending = problem ?? (await watchStep(bench, check, output));
    if (ending !== null) await noteQuietly(bench, ending);
    // Who prints without end gets no time to print more.
    const graceMs = printedBytes(bench, check) > bounds.printBytes ? 0 : bounds.graceMs;
    const { exitCode } = await endStep(bench, check, graceMs);
    const hasClone = exists(join(place.tree, '.git'));
    const printed = Math.max(printedBytes(bench, check), output.stored().outputBytes);
    const verdict = judgeStep(check, { ending, exitCode, hasClone, printedBytes: printed });
    const counts = hasClone && ending === null ? await countStep(place, check, output) : null;
    crashPoint('check.after_exit');
    await storeRest(bench, output, verdict);
    return { check: { ...check, ...output.stored() }, verdict, exitCode, counts };
  } finally {
    output.close();
  }
}

/** What cannot be started is a failure of the check. */
async function tryToBegin(bench: CheckBench, check: Check): Promise<{ check: Check; problem: Ending | null }> {
  try {
    if (bench.ending !== null) return { check, problem: bench.ending };
    return { check: await beginStep(bench, check), problem: null };
  } catch (error) {
    if (error instanceof LeftToNext) throw error;
    return { check, problem: failed(check, `it could not be started: ${messageOf(error)}`) };
  }
}

/** A disk that is full, or a check that has deleted its place, does not keep us from ending it. */
async function noteQuietly({ platform, place }: CheckBench, ending: Ending): Promise<void> {
  try {
    await noteEnding(place, ending);
  } catch (error) {
    platform.log.warn({ error: messageOf(error) }, 'it could not be noted why a check is ended');
  }
}

/** Stores the output to its last byte. A check that has filled the disk is over, so its own files make room first. */
async function storeRest(bench: CheckBench, output: CheckOutput, verdict: Verdict): Promise<void> {
  const isOver = verdict.outcome !== null;
  await untilThereIsRoom(bench, () => output.takeEnd(), isOver ? () => freePlace(bench.place) : undefined);
}
