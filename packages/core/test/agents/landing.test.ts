import { expect, test } from 'vitest';
import type { Landing, LandingFacts } from '../../src/agents/landing.ts';
import { isAuthor, judgeLanding } from '../../src/agents/landing.ts';
import { anAgent } from '../fixture.ts';

const change = { id: 'abcdefghij', openedAt: 5, mergedAt: null, closedAt: null, closeReason: null };
const closed = { ...change, closedAt: 6, closeReason: 'no' };
const facts: LandingFacts = {
  agent: { createdAt: 4 },
  run: { outcome: 'completed', detail: null },
  changes: [],
  lands: true,
  isSettled: true,
};

const blocked: Landing = { do: 'block', reason: 'its change abcdefgh was closed: no' };
const closedSilently: Landing = { do: 'block', reason: 'its change abcdefgh was closed' };

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
  ['its change was closed without a word', { changes: [{ ...closed, closeReason: null }] }, closedSilently],
  ['its change was closed with an empty word', { changes: [{ ...closed, closeReason: '' }] }, closedSilently],
  ['its change was opened as it began, and closed', { agent: { createdAt: 5 }, changes: [closed] }, blocked],
  ['its agent is unknown, and its change was closed', { agent: null, changes: [closed] }, blocked],
  ['its run is unknown', { run: null }, { do: 'complete' }],
  [
    'its agent failed without a word',
    { run: { outcome: 'failed', detail: null } },
    { do: 'requeue', reason: 'its agent did not complete' },
  ],
  [
    'its agent said done and then failed',
    { run: { outcome: 'failed', detail: 'boom' }, isSettled: false },
    { do: 'requeue', reason: 'boom' },
  ],
])('finished work: %s', (_name, given, landing) => {
  expect(judgeLanding({ ...facts, ...given })).toEqual(landing);
});

test.each([
  ['a worker on its branch', {}, true],
  ['a subagent', { kind: 'subagent' }, false],
  ['one that stays', { class: 'persistent' }, false],
  ['an errand', { mode: 'errand' }, false],
  ['a reviewer', { mode: 'review' }, false],
  ['an architect', { mode: 'plan' }, false],
  ['one without a branch', { branch: null }, false],
  ['one that Pawl did not start', { adopted: { pid: 1, start: '1', cwd: '/' } }, false],
] as const)('whether its work becomes a change automatically: %s', (_, fields, expected) => {
  expect(isAuthor(anAgent(fields))).toBe(expected);
});
