import { settledRuns } from '@pawl/daemon/changes/settled';
import { createCaches } from '@pawl/daemon/platform/caches';
import { limits } from '@pawl/schema/limit';
import { expect, test } from 'vitest';

test('settled runs are remembered per project, and the oldest are dropped', () => {
  const platform = { caches: createCaches() };
  settledRuns(platform, 'quiet').add('first');
  const busy = settledRuns(platform, 'busy');
  for (let index = 0; index <= limits.rememberedSteps; index++) busy.add(`run ${index}`);
  expect(settledRuns(platform, 'quiet').has('first')).toBe(true);
  expect(settledRuns(platform, 'busy').has('run 0')).toBe(false);
  expect(settledRuns(platform, 'busy').has(`run ${limits.rememberedSteps}`)).toBe(true);
  expect(settledRuns({ caches: createCaches() }, 'quiet').has('first')).toBe(false);
});
