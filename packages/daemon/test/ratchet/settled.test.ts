import { settledRuns } from '@pawl/daemon/changes/settled';
import type { Workshop } from '@pawl/daemon/platform/workshop';
import { limits } from '@pawl/schema/limit';
import { expect, test } from 'vitest';

test('what is settled in one project is remembered however much is in others, and what is oldest is forgotten', () => {
  const shop = {} as Workshop;
  settledRuns(shop, 'quiet').add('first');
  const busy = settledRuns(shop, 'busy');
  for (let index = 0; index <= limits.rememberedSteps; index++) busy.add(`run ${index}`);
  expect(settledRuns(shop, 'quiet').has('first')).toBe(true);
  expect(settledRuns(shop, 'busy').has('run 0')).toBe(false);
  expect(settledRuns(shop, 'busy').has(`run ${limits.rememberedSteps}`)).toBe(true);
  expect(settledRuns({} as Workshop, 'quiet').has('first')).toBe(false);
});
