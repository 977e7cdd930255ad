import type { ForgeChange } from '@pawl/core/port/forge';
import type { ForgeMemory } from '@pawl/core/queue/forge-plan';
import { freshForgeMemory, holdOnForge, keepsAlarm, marksOnForge } from '@pawl/core/queue/forge-plan';
import type { Change } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import { expect, test } from 'vitest';

const head = 'a'.repeat(40);
const tip = 'f'.repeat(40);
const now = 10_000_000;
const change = { head, queuedAt: 1, findings: [], approvedHead: null, returns: 0, ejection: null } as unknown as Change;
const there: ForgeChange = {
  ref: '7',
  url: 'https://github.com/octo/sample/pull/7',
  branch: 'work/a',
  fork: null,
  head,
  base: 'main',
  title: 'A change',
  body: '',
  author: 'octo-cat',
  state: 'open',
  draft: false,
  labels: ['pawl'],
  review: 'none',
  objectors: [],
  mergeable: 'yes',
  checks: { state: 'none', checks: [] },
  mergedCommit: null,
};
const questioned = { ...change, findings: [{ kind: 'fewer-tests', detail: '3 instead of 5' }] } as Change;

function hold(
  seen: Partial<ForgeChange>,
  memory: Partial<ForgeMemory> = {},
  { mine = change, mayMerge = true }: { mine?: Change; mayMerge?: boolean } = {},
): string | null {
  const sight = { change: mine, blocking: 0, there: { ...there, ...seen }, memory: { ...freshForgeMemory, ...memory } };
  return holdOnForge(sight, { target: { branch: 'main', tip }, mayMerge, now });
}

const failing = { state: 'failed', checks: [{ name: 'test', state: 'failed', url: null }] } as const;
const running = { state: 'pending', checks: [{ name: 'lint', state: 'pending', url: null }] } as const;

test('objections on the forge hold a change [S4-07]', () => {
  expect(hold({})).toBeNull();
  expect(hold({ checks: { state: 'passed', checks: [] }, review: 'approved' })).toBeNull();
  expect(hold({ review: 'changes_requested', objectors: ['boss'] })).toBe('boss requested changes');
  expect(hold({ review: 'required' })).toBe('a review is required there');
  expect(hold({ checks: { ...failing, checks: [...failing.checks] } })).toBe('its checks fail there: test');
  expect(hold({ checks: { ...running, checks: [...running.checks] } })).toBe(
    'its checks are still running there: lint',
  );
  expect(hold({ draft: true })).toBe('it is a draft there');
  expect(hold({ base: 'next' })).toBe('it goes to next there, not to main');
  expect(hold({ head: 'b'.repeat(40) })).toContain('its head is bbbbbbbbbb there');
});

test('a new head waits for checks to start; after a while it has none', () => {
  expect(hold({}, { movedAt: now - 1_000 })).toBe('its checks have not started there');
  expect(hold({}, { movedAt: now - limits.forgeGraceMs })).toBeNull();
  expect(hold({ checks: { state: 'passed', checks: [] } }, { movedAt: now - 1_000 })).toBeNull();
});

test('a draft that is not queued is not held for being one', () => {
  expect(hold({ draft: true }, {}, { mine: { ...change, queuedAt: null } })).toBeNull();
});

test('the label needs-human-input follows the change, and a person’s own label stays [S4-07]', () => {
  const labels = ['pawl', 'needs-human-input'];
  const marks = (mine: Change, seen: Partial<ForgeChange>, memory: Partial<ForgeMemory> = {}) =>
    marksOnForge({
      change: mine,
      blocking: 0,
      there: { ...there, ...seen },
      memory: { ...freshForgeMemory, ...memory },
    });
  expect(marks(questioned, {})).toMatchObject({ marks: { add: ['needs-human-input'] }, memory: { isFlagged: true } });
  // Removed there by hand: it is not added again.
  expect(marks(questioned, {}, { isFlagged: true })).toMatchObject({ marks: { add: [], remove: [] } });
  expect(marks(change, { labels }, { isFlagged: true })).toMatchObject({
    marks: { remove: ['needs-human-input'] },
    memory: { isFlagged: false },
  });
  expect(marks(change, { labels })).toMatchObject({ marks: { add: [], remove: [] } });
  expect(hold({ labels })).toBe('it is labelled needs-human-input');
  expect(hold({ labels }, { isFlagged: true })).toBeNull();
});

test('our draft is marked ready once, when queued; if it is a draft again, that is respected', () => {
  const ready = (mine: Change, memory: Partial<ForgeMemory> = {}) =>
    marksOnForge({
      change: mine,
      blocking: 0,
      there: { ...there, draft: true },
      memory: { ...freshForgeMemory, ...memory },
    }).marks.ready;
  expect(ready(change)).toBe(true);
  expect(ready({ ...change, queuedAt: null })).toBe(false);
  expect(ready(change, { isReady: true })).toBe(false);
  expect(ready(change, { isFound: true })).toBe(false);
});

test('a merge that the forge refused is held for a while, until it or main moves', () => {
  const refused = { head, onto: tip, reason: 'the base branch policy prohibits the merge', at: now - 1_000 };
  expect(hold({}, { refused })).toBe(refused.reason);
  expect(hold({ draft: true }, { refused })).toBe('it is a draft there');
  expect(hold({}, { refused: { ...refused, head: 'b'.repeat(40) } })).toBeNull();
  expect(hold({}, { refused: { ...refused, onto: 'b'.repeat(40) } })).toBeNull();
  const longAgo = { ...refused, at: now - limits.forgeRetryMs };
  expect(hold({}, { refused: longAgo })).toBeNull();
  expect(hold({}, { refused: longAgo }, { mayMerge: false })).toBe(refused.reason);
});

test("an alarm from the forge’s CI stays until it reports otherwise on main's commit", () => {
  const keeps = (
    state: 'passed' | 'failed' | 'pending' | 'none',
    { commit = tip, since = now - 1_000, isTheirs = true } = {},
  ) => keepsAlarm({ tip, since, checks: { commit, state } }, { isTheirs, now });
  expect(keeps('failed')).toBe(true);
  expect(keeps('failed', { isTheirs: false })).toBe(true);
  expect(keeps('pending')).toBe(true);
  expect(keeps('pending', { isTheirs: false })).toBe(false);
  expect(keeps('passed')).toBe(false);
  // Main has moved, and CI has not reported yet, or does not check this commit.
  expect(keeps('failed', { commit: head })).toBe(true);
  expect(keeps('passed', { commit: head })).toBe(true);
  expect(keeps('failed', { commit: head, since: now - limits.forgeGraceMs })).toBe(false);
  expect(keeps('failed', { commit: head, isTheirs: false })).toBe(false);
  expect(keepsAlarm(null, { isTheirs: true, now })).toBe(true);
  expect(keepsAlarm(null, { isTheirs: false, now })).toBe(false);
});
