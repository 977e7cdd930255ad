import type { Change, Ejection } from '@pawl/schema/change';
import { expect, test } from 'vitest';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { notRefreshedWords, reasonNotToRefresh } from '../../src/queue/refresh.ts';
import { aRun, aSession, anAgent } from '../fixture.ts';

const rested: AgentFacts = {
  agent: anAgent(),
  run: aRun({ outcome: 'completed' }),
  session: aSession({ endedAt: 9 }),
};
const ejection: Ejection = { kind: 'conflict', reason: '', files: [], checkId: null, head: 'head', at: 1 };
const change = { head: 'head', queuedAt: 1, ejection: null } as Partial<Change> as Change;
const reason = (facts: Partial<AgentFacts>, given: { target?: string; change?: Change } = {}) =>
  reasonNotToRefresh({ ...rested, ...facts }, { target: 'main', change: null, ...given });

test('idle agents are rebased onto main, including stopped ones and those that never started [W4-15]', () => {
  expect(reason({})).toBe(null);
  expect(reason({ run: null, session: null })).toBe(null);
  expect(reason({ agent: anAgent({ stopRequestedAt: 3 }), run: aRun({ outcome: 'cancelled' }) })).toBe(null);
});

test.each<[string, Partial<AgentFacts>, RegExp]>([
  ['a session that runs', { session: aSession({ endedAt: null }) }, /at work/],
  ['a run that waits for a limit to pass', { run: aRun({ waitUntil: 99 }) }, /at work/],
  ['an agent that is dead', { agent: anAgent({ endedAt: 3 }) }, /ended/],
  ['one that has completed', { agent: anAgent({ completion: { at: 1, summary: null, failure: null } }) }, /ended/],
  ['one whose worktree does not exist yet', { agent: anAgent({ worktreeReadyAt: null }) }, /no worktree/],
  ['one without a branch', { agent: anAgent({ branch: null }) }, /no worktree/],
  ['one that Pawl did not start', { agent: anAgent({ adopted: { pid: 1, start: '', cwd: '' } }) }, /no worktree/],
  ['an errand', { agent: anAgent({ mode: 'errand' }) }, /stays on its commit/],
  ['a review', { agent: anAgent({ mode: 'review' }) }, /stays on its commit/],
  ['one on the target branch', { agent: anAgent({ branch: 'main' }) }, /on main/],
])('%s is left alone [W4-15]', (_, facts, words) => {
  expect(reason(facts)).toMatch(words);
});

test('a branch in the queue stays; an ejected or merely open one is rebased [W4-15]', () => {
  expect(reason({}, { change })).toMatch(/in the queue/);
  expect(reason({}, { change: { ...change, queuedAt: null } })).toBe(null);
  expect(reason({}, { change: { ...change, ejection } })).toBe(null);
  expect(reason({}, { change: { ...change, ejection: { ...ejection, head: 'before' } } })).toMatch(/in the queue/);
});

test('a failed rebase is reported with the files or the reason, and what to do', () => {
  const moved = { branch: 'work/a', target: 'main', onto: 'f'.repeat(40) };
  expect(notRefreshedWords(moved, { conflicts: ['a.ts'] })).toMatch(/conflict in:\n- a\.ts\nWhen .*git rebase f{10}$/s);
  expect(notRefreshedWords(moved, { reason: 'Files are in the way.' })).toMatch(/Files are in the way\.\nNothing was/);
});
