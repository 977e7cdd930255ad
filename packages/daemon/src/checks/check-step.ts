import type { ProcessEnd } from '@pawl/host/supervise/supervise';
import { watchProcesses } from '@pawl/host/supervise/watch-processes';
import { exists } from '@pawl/host/session/session-files';
import type { Check } from '@pawl/schema/change';
import { isPassing, messageOf } from '@pawl/schema/error';
import type { LaunchLimits } from '@pawl/schema/launch-spec';
import type { CheckBench } from './check-bench.ts';
import { LeftToNext } from './check-bench.ts';
import { stepLaunch } from './check-launch.ts';
import { checkLimits } from './check-limit.ts';
import type { CheckOutput } from './check-output.ts';
import { outputSize } from './check-output.ts';
import type { Ending } from './check-place.ts';
import { identityOf, processOf } from './check-process.ts';
import { durationInWords, failed } from './check-verdict.ts';

/**
 * Starts the process of the step that a check is at, or finds the one that an earlier daemon started. Returns the check
 * with its process on record.
 */
export async function beginStep(bench: CheckBench, check: Check): Promise<Check> {
  const started = await processOf(bench, check).begin(
    async () => ({ launch: stepLaunch(bench, check), prompt: '', stdin: 'file' }),
    // Whoever made its directory may have been killed before its shim claimed it.
    { leftoverGraceMs: exists(bench.place.step(check.step)) ? 0 : null },
  );
  return { ...check, pid: started.pid, processStart: started.start };
}

/**
 * Waits until a step has left, storing its output. Returns why it has to be ended if it does not leave by itself: it
 * takes too long, prints too much, or nobody needs it any more.
 */
export async function watchStep(bench: CheckBench, check: Check, output: CheckOutput): Promise<Ending | null> {
  const { platform, bounds, place, bell } = bench;
  const seen: { hasLeft: boolean; passed: keyof LaunchLimits | null } = { hasLeft: false, passed: null };
  const watch = watchProcesses(
    {
      onChange: () => undefined,
      onLeft() {
        seen.hasLeft = true;
        bell.ring();
      },
      onLimit(_directory, limit) {
        seen.passed ??= limit;
        bell.ring();
      },
      onError: (error) => platform.log.warn({ error: messageOf(error) }, 'a check could not be looked at'),
    },
    bounds,
  );
  watch.add({
    directory: place.step(check.step),
    identity: identityOf(check),
    limits: stepLaunch(bench, check).limits,
    ranMs: Math.max(0, platform.clock() - (check.stepStartedAt ?? platform.clock())),
  });
  try {
    for (;;) {
      if (bench.isClosed()) throw new LeftToNext();
      if (bench.ending !== null) return bench.ending;
      if (seen.hasLeft) return null;
      if (seen.passed !== null) return overLimit(bench, check, seen.passed);
      await storeQuietly(bench, output);
      await bell.wait(bounds.pollMs);
    }
  } finally {
    watch.close();
  }
}

function overLimit({ bounds }: CheckBench, check: Check, limit: keyof LaunchLimits): Ending {
  const timeoutMs = check.steps[check.step]?.timeoutMs ?? 0;
  if (limit === 'runMs') return failed(check, `ended after ${durationInWords(timeoutMs)}`);
  return failed(check, `ended: it printed more than ${Math.round(bounds.printBytes / (1024 * 1024))} MB`);
}

/** What all steps have printed so far. */
export function printedBytes({ place }: CheckBench, { step }: Check): number {
  let sum = 0;
  for (let no = 0; no <= step; no += 1) sum += outputSize(place.step(no));
  return sum;
}

/** A store that has no room does not keep a step from being ended in time; what was printed is stored later. */
async function storeQuietly({ platform }: CheckBench, output: CheckOutput): Promise<void> {
  try {
    await output.takeIn({ final: false });
  } catch (error) {
    if (!isPassing(error)) throw error;
    platform.log.warn({ error: messageOf(error) }, 'output of a check could not be stored; it is tried again');
  }
}

/** Ends every process of a step, whatever it has forked; what remains after the grace period is killed. */
export async function endStep(bench: CheckBench, check: Check, graceMs: number): Promise<ProcessEnd> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await processOf(bench, check).end({ graceMs });
    } catch (error) {
      if (attempt >= checkLimits.stopAttempts || bench.isClosed()) throw error;
      bench.platform.log.warn({ check: check.id, error: messageOf(error) }, 'processes of a check do not leave');
    }
  }
}
