import { createTestCounter } from '@pawl/core/guard/count-tests';
import { sessionFile } from '@pawl/host/session/session-files';
import type { Check, TestCount } from '@pawl/schema/change';
import { lstatSync } from 'node:fs';
import { countJUnitFiles } from './check-junit.ts';
import type { CheckOutput } from './check-output.ts';
import type { CheckPlace } from './check-place.ts';

/** The number of tests that the current step has run: by its JUnit files, else by its output. */
export async function countStep(place: CheckPlace, check: Check, output: CheckOutput): Promise<TestCount | null> {
  const patterns = check.steps[check.step]?.junit ?? [];
  // The prompt is written when the clone is complete, just before the step starts.
  const begun = lstatSync(sessionFile(place.step(check.step), 'prompt'), { throwIfNoEntry: false });
  if (patterns.length > 0 && begun !== undefined) {
    const counted = await countJUnitFiles(place.tree, patterns, begun.ctimeMs);
    if (counted !== null) return counted;
  }
  const counter = createTestCounter();
  for await (const text of output.text()) counter.read(text);
  return counter.total();
}
