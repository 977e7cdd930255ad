import { expect, test } from 'vitest';
import { capTo } from '../../src/definitions/cap.ts';
import { aDefinition } from './fixture.ts';

test('a capped definition has no right beyond the limit [S2-16, S2-17]', () => {
  const wide = aDefinition({
    tools: ['*'],
    deniedTools: ['WebFetch'],
    toolGate: 'advisory',
    hears: ['changes', 'emergency'],
    policy: { allow: ['Patch', 'Finalize', 'Delegate'], delegateTargets: [] },
  });
  const narrow = aDefinition({
    tools: ['Read', 'Bash'],
    deniedTools: ['Write'],
    toolGate: 'hard',
    hears: ['emergency', 'reviews'],
    policy: { allow: ['Finalize'], delegateTargets: [] },
  });
  expect(capTo(wide, narrow)).toMatchObject({
    tools: ['Read', 'Bash'],
    deniedTools: ['WebFetch', 'Write'],
    toolGate: 'hard',
    hears: ['emergency'],
    policy: { allow: ['Finalize'] },
  });
  expect(capTo(narrow, wide)).toMatchObject({ tools: ['Read', 'Bash'], policy: { allow: ['Finalize'] } });
});
