import type { Check } from '@pawl/schema/change';
import type { LaunchSpec } from '@pawl/schema/launch-spec';
import type { CheckBench } from './check-bench.ts';
import { checkEnvironment } from './check-environment.ts';
import { outputSize } from './check-output.ts';

/**
 * The launch of the step that a check is at. All that it prints goes into one file, in order. The first command that
 * fails ends it, as on other machines that check: a line that was not looked at must not hide a failure.
 */
export function stepLaunch({ platform, place, names, bounds }: CheckBench, check: Check): LaunchSpec {
  const step = check.steps[check.step];
  return {
    command: '/bin/sh',
    arguments: ['-e', '-c', `exec 2>&1\n${step?.run ?? 'exit 1'}`],
    environment: checkEnvironment(platform.environment, names, place),
    directories: { working: place.tree, writable: [place.tree, place.temporary], readable: [] },
    limits: { runMs: step?.timeoutMs ?? 0, outputBytes: bounds.printBytes - printedBefore(place, check.step) },
  };
}

/** How many bytes the steps before this one have printed. */
function printedBefore(place: CheckBench['place'], step: number): number {
  let sum = 0;
  for (let no = 0; no < step; no += 1) sum += outputSize(place.step(no));
  return sum;
}
