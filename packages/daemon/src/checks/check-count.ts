import { createTestCounter } from '@pawl/core/guard/count-tests';
import { sessionFile } from '@pawl/host/session/session-files';
import type { Check, TestCount } from '@pawl/schema/change';
import { lstatSync } from 'node:fs';
import { countJUnitFiles } from './check-junit.ts';
import type { CheckOutput } from './check-output.ts';
import type { CheckPlace } from './check-place.ts';

/** How many tests the step that a check is at has run: by the JUnit files it should leave, else by what it printed. */
export async function countStep(place: CheckPlace, check: Check, output: CheckOutput): Promise<TestCount | null> {
  const patterns = check.steps[check.step]?.junit ?? [];
  // The prompt is written when all of the clone is there, and just before the step begins.
  const begun = lstatSync(sessionFile(place.step(check.step), 'prompt'), { throwIfNoEntry: false });
  if (patterns.length > 0 && begun !== undefined) {
    const counted = await countJUnitFiles(place.tree, patterns, begun.ctimeMs);
    if (counted !== null) return counted;
  }
  const counter = createTestCounter();
  for await (const text of output.text()) counter.read(text);
  return counter.total();
}
