import { reviewLines } from '@pawl/present/plan/review-text';
import type { PhaseReview } from '@pawl/protocol/plan/review-view';
import { idOf } from '@pawl/testing/agent-view';
import { expect, test } from 'vitest';

const thread = {
  id: idOf(5),
  state: 'answered',
  anchor: { path: 'a.ts', line: 2 },
  line: 7,
  isOutdated: false,
  body: 'say\u001b[31m why',
  answer: 'it does',
  answeredByAgent: { id: idOf(9), alias: 'brave-otter' },
};
const review = {
  planId: idOf(1),
  phase: { id: idOf(2), name: 'build', state: 'in_review', detail: 'waits for your review' },
  tasks: [{ id: idOf(3), name: 'write', state: 'completed', summary: 'wrote it', revises: null }],
  works: [],
  hash: 'h'.repeat(64),
  files: [{ path: 'a.ts', from: null, added: 3, removed: 1 }],
  patch: '',
  truncated: false,
  threads: [thread, { ...thread, id: idOf(6), line: null, isOutdated: true, answer: null, answeredByAgent: null }],
} as unknown as PhaseReview;

const texts = (shown: PhaseReview) => reviewLines(shown).map((line) => line.map(({ text }) => text).join(''));

test('a review shows tasks, files, threads with their place now, and the next commands', () => {
  const plan = idOf(1).slice(0, 6);
  expect(texts(review)).toEqual([
    `phase build  ${idOf(2)}`,
    'in_review: waits for your review',
    `  ${idOf(3).slice(0, 6)} completed write: wrote it`,
    '  a.ts  +3 -1',
    `  ${idOf(5).slice(0, 8)} answered a.ts:7`,
    '    say why',
    '    brave-otter: it does',
    `  ${idOf(6).slice(0, 8)} answered a.ts:2 (outdated)`,
    '    say why',
    `read it: pawl plan review ${plan} --diff`,
    `approve exactly this: pawl plan review ${plan} --approve --hash hhhhhhhhhhhh`,
    `request changes: pawl plan changes ${plan} "…"`,
  ]);
  const done = { ...review, phase: { ...review.phase, state: 'completed', detail: '' }, files: [], threads: [] };
  expect(texts(done as PhaseReview).slice(-1)).toEqual(['no commits']);
});
