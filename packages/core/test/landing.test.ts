import { expect, test } from 'vitest';
import type { Landing, LandingFacts } from '../src/landing.ts';
import { judgeLanding } from '../src/landing.ts';

const change = { id: 'abcdefghij', openedAt: 5, mergedAt: null, closedAt: null, closeReason: null };
const closed = { ...change, closedAt: 6, closeReason: 'no' };
const facts: LandingFacts = {
  agent: { createdAt: 4 },
  run: { outcome: 'completed', detail: null },
  changes: [],
  lands: true,
  isSettled: true,
};

test.each<[string, Partial<LandingFacts>, Landing]>([
  ['its change has landed', { changes: [{ ...change, mergedAt: 7 }] }, { do: 'complete' }],
  ['another change of it has landed', { changes: [{ ...change, mergedAt: 7 }, closed] }, { do: 'complete' }],
  ['its change is open', { changes: [change] }, { do: 'wait' }],
  ['nothing was to be proposed', {}, { do: 'complete' }],
  ['its work was not looked at yet', { isSettled: false }, { do: 'wait' }],
  ['its agent is still at work', { run: { outcome: null, detail: null }, lands: false }, { do: 'wait' }],
  ['the project merges nothing', { lands: false, changes: [change] }, { do: 'complete' }],
  ['its change was closed', { changes: [closed] }, { do: 'block', reason: 'its change abcdefgh was closed: no' }],
  ['an earlier attempt’s change was closed', { agent: { createdAt: 9 }, changes: [closed] }, { do: 'complete' }],
  [
    'its agent said done and then failed',
    { run: { outcome: 'failed', detail: 'boom' }, isSettled: false },
    { do: 'requeue', reason: 'boom' },
  ],
])('finished work: %s', (_name, given, landing) => {
  expect(judgeLanding({ ...facts, ...given })).toEqual(landing);
});
