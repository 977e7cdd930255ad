import type { ProcessEnd } from '@pawl/host/supervise/supervise';
import { watchProcesses } from '@pawl/host/supervise/watch-processes';
import { exists } from '@pawl/host/session/session-files';
import type { Check } from '@pawl/schema/change';
import { isPassing, messageOf } from '@pawl/schema/error';
import type { LaunchLimits } from '@pawl/schema/launch-spec';
import type { CheckContext } from './check-context.ts';
import { LeftToNext } from './check-context.ts';
import { stepLaunch } from './check-launch.ts';
import { sandboxedStep } from './check-sandbox.ts';
import { checkLimits } from './check-limit.ts';
import type { CheckOutput } from './check-output.ts';
import { outputSize } from './check-output.ts';
import type { Ending } from './check-place.ts';
import { identityOf, processOf } from './check-process.ts';
import { durationInWords, failed } from './check-verdict.ts';

/**
 * Starts the process of a check's current step, or finds the one that an earlier daemon started. Returns the check with
 * its recorded process.
 */
export async function beginStep(context: CheckContext, check: Check): Promise<Check> {
  const started = await processOf(context, check).begin(
    async () => ({
      launch: await sandboxedStep(context, check, stepLaunch(context, check)),
      prompt: '',
      stdin: 'file',
    }),
    // The daemon that created its directory may have been killed before the shim claimed it.
    { leftoverGraceMs: exists(context.place.step(check.step)) ? 0 : null },
  );
  return { ...check, pid: started.pid, processStart: started.start };
}

/**
 * Waits until a step has exited, storing its output. Returns why it must be ended if it does not exit by itself:
 * timeout, too much output, or cancelled.
 */
export async function watchStep(context: CheckContext, check: Check, output: CheckOutput): Promise<Ending | null> {
  const { platform, bounds, place, bell } = context;
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
    limits: stepLaunch(context, check).limits,
    ranMs: Math.max(0, platform.clock() - (check.stepStartedAt ?? platform.clock())),
  });
  try {
    for (;;) {
      if (context.isClosed()) throw new LeftToNext();
      if (context.ending !== null) return context.ending;
      if (seen.hasLeft) return null;
      if (seen.passed !== null) return overLimit(context, check, seen.passed);
      await storeQuietly(context, output);
      await bell.wait(bounds.pollMs);
    }
  } finally {
    watch.close();
  }
}

function overLimit({ bounds }: CheckContext, check: Check, limit: keyof LaunchLimits): Ending {
  const timeoutMs = check.steps[check.step]?.timeoutMs ?? 0;
  if (limit === 'runMs') return failed(check, `ended after ${durationInWords(timeoutMs)}`);
  return failed(check, `ended: it printed more than ${Math.round(bounds.printBytes / (1024 * 1024))} MB`);
}

/** The output size of all steps so far. */
export function printedBytes({ place }: CheckContext, { step }: Check): number {
  let sum = 0;
  for (let no = 0; no <= step; no += 1) sum += outputSize(place.step(no));
  return sum;
}

/** A full store must not delay the end of a step; its output is stored later. */
async function storeQuietly({ platform }: CheckContext, output: CheckOutput): Promise<void> {
  try {
    await output.takeIn({ final: false });
  } catch (error) {
    if (!isPassing(error)) throw error;
    platform.log.warn({ error: messageOf(error) }, 'failed to store the output of a check; will retry');
  }
}

/** Ends every process of a step, whatever it has forked; kills those that remain after the grace period. */
export async function endStep(context: CheckContext, check: Check, graceMs: number): Promise<ProcessEnd> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await processOf(context, check).end({ graceMs });
    } catch (error) {
      if (attempt >= checkLimits.stopAttempts || context.isClosed()) throw error;
      context.platform.log.warn({ check: check.id, error: messageOf(error) }, 'processes of a check do not exit');
    }
  }
}
