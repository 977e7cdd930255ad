import type { Check } from '@pawl/schema/change';
import type { LaunchSpec } from '@pawl/schema/launch-spec';
import type { CheckContext } from './check-context.ts';
import { checkEnvironment } from './check-environment.ts';
import { outputSize } from './check-output.ts';

/**
 * The launch of a check's current step. All its output goes into one file, in order. The first failing command ends it,
 * as on other CI systems: an unchecked line must not hide a failure.
 */
export function stepLaunch({ platform, place, names, bounds }: CheckContext, check: Check): LaunchSpec {
  const step = check.steps[check.step];
  return {
    command: '/bin/sh',
    arguments: ['-e', '-c', `exec 2>&1\n${step?.run ?? 'exit 1'}`],
    environment: checkEnvironment(platform.environment, names, place),
    directories: { working: place.tree, writable: [place.tree, place.temporary], readable: [] },
    sandbox: null,
    limits: { runMs: step?.timeoutMs ?? 0, outputBytes: bounds.printBytes - printedBefore(place, check.step) },
  };
}

/** How many bytes the earlier steps have printed. */
function printedBefore(place: CheckContext['place'], step: number): number {
  let sum = 0;
  for (let no = 0; no < step; no += 1) sum += outputSize(place.step(no));
  return sum;
}
