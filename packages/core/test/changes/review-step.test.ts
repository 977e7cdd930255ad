import type { Change, Ejection } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import { expect, test } from 'vitest';
import type { ReviewFacts, ReviewStep } from '../../src/changes/review-step.ts';
import { nextReview } from '../../src/changes/review-step.ts';
import { anAgent, aRun } from '../fixture.ts';

const queued = {
  head: 'h1',
  examinedHead: 'h1',
  reviewedHead: null,
  queuedAt: 1,
  hold: null,
  findings: [],
  ejection: null,
  approvedHead: null,
  reviews: 0,
} as Partial<Change> as Change;
const reviewer = { agent: anAgent({ baseCommit: 'h1' }), run: aRun() };
const ended = (outcome: 'completed' | 'failed' | 'cancelled') => ({ ...reviewer, run: aRun({ outcome, endedAt: 2 }) });

const step = (change: Partial<Change>, given: Partial<ReviewFacts> = {}): ReviewStep =>
  nextReview({ blocking: 0, reviewer: null, ...given, change: { ...queued, ...change } });

test('a queued and examined head is reviewed, and nothing else [S4-13]', () => {
  expect(step({})).toEqual({ do: 'begin', failed: 0 });
  const finding = { kind: 'fewer-tests', detail: 'fewer' } as const;
  const others: Partial<Change>[] = [
    { reviewedHead: 'h1' },
    { queuedAt: null },
    { examinedHead: 'h0' },
    { hold: { reason: 'wait', by: 'a person', at: 1 } },
    { findings: [finding] },
    { ejection: { head: 'h1' } as Ejection },
  ];
  for (const change of others) expect(step(change), JSON.stringify(change)).toEqual({ do: 'nothing' });
  expect(step({}, { blocking: 1 })).toEqual({ do: 'nothing' });
  expect(step({ findings: [finding], approvedHead: 'h1' }).do).toBe('begin');
});

test('a review is for one head; a new head needs a new review', () => {
  expect(step({}, { reviewer })).toEqual({ do: 'wait' });
  expect(step({}, { reviewer: ended('completed') })).toEqual({ do: 'end' });
  const moved = { head: 'h2', examinedHead: 'h2', reviews: limits.reviewAttempts };
  expect(step(moved, { reviewer })).toEqual({ do: 'begin', failed: 0 });
  expect(step(moved, { reviewer: ended('failed') })).toEqual({ do: 'begin', failed: 0 });
});

test('a failed review is repeated up to a limit', () => {
  expect(step({}, { reviewer: ended('failed') })).toEqual({ do: 'begin', failed: 1 });
  const last = limits.reviewAttempts - 1;
  expect(step({ reviews: last }, { reviewer: ended('failed') })).toEqual({
    do: 'give-up',
    failed: limits.reviewAttempts,
  });
  expect(step({ reviews: limits.reviewAttempts }, { reviewer: ended('failed') })).toEqual({ do: 'nothing' });
  // The last one is still working: nothing is given up yet.
  expect(step({ reviews: last }, { reviewer })).toEqual({ do: 'wait' });
});

test('a reviewer that was stopped or asks a person may continue; one that was killed or failed may not', () => {
  const done = { at: 1, summary: 'fine', failure: null };
  const agent = reviewer.agent;
  expect(step({}, { reviewer: ended('cancelled') })).toEqual({ do: 'wait' });
  const asking = { agent, run: aRun({ outcome: 'completed', endedAt: 2, questions: [{ id: '1', question: '?' }] }) };
  expect(step({}, { reviewer: asking })).toEqual({ do: 'wait' });
  expect(step({}, { reviewer: { agent: { ...agent, endedAt: 3 }, run: aRun({ outcome: 'cancelled' }) } }).do).toBe(
    'begin',
  );
  expect(step({}, { reviewer: { agent: { ...agent, completion: done, endedAt: 3 }, run: aRun() } })).toEqual({
    do: 'end',
  });
  expect(step({}, { reviewer: { agent: { ...agent, completion: { ...done, failure: 'no' } }, run: aRun() } }).do).toBe(
    'begin',
  );
});
