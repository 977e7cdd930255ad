import { budgetNews, changeNews, queueNews, withheldNews } from '@pawl/core/questions/inbox';
import type { ChangeInboxFacts, QueueInboxFacts } from '@pawl/core/questions/inbox';
import { newChange } from '@pawl/core/changes/change-life';
import type { MergeRules } from '@pawl/core/changes/merge-leave';
import type { Change, Ejection } from '@pawl/schema/change';
import { expect, test } from 'vitest';
import { aRun, anAgent, mergeRules } from '../fixture.ts';

const change = newChange({
  id: 'c'.repeat(22),
  projectId: 'p',
  agentId: 'a',
  taskId: null,
  branch: 'work/a',
  head: 'head',
  base: 'base',
  title: 'A title',
  summary: '',
  openedAt: 1,
  queuedAt: 2,
});
const ejection: Ejection = {
  kind: 'conflict',
  reason: 'in a.txt',
  files: ['a.txt'],
  checkId: null,
  head: 'head',
  at: 5,
};
const rules = mergeRules;
const news = (patch: Partial<Change>, more: Partial<ChangeInboxFacts> = {}) =>
  changeNews({ change: { ...change, ...patch }, state: 'ejected', detail: 'why', isInHand: false, rules, ...more });

test('a conflict waits for a person unless an agent is working on it', () => {
  const next = ['pawl change fix cccccccc', 'pawl change close cccccccc --reason "…"'];
  expect(news({ ejection })).toEqual({ kind: 'conflict', since: 5, text: 'A title', detail: 'why', next });
  expect(news({ ejection }, { isInHand: true })).toBe(null);
  // It has a new head, of which it is not known yet whether it conflicts.
  expect(news({ ejection: { ...ejection, head: 'before' } }, { state: 'queued' })).toBe(null);
});

test('a failing change waits for the person who made it, and for anyone once agents gave up', () => {
  const red = { ejection: { ...ejection, kind: 'red' as const } };
  expect(news({ ...red, agentId: null })).toMatchObject({ kind: 'ejected', next: [/log/, /retry/, /close/].map(like) });
  expect(news(red)).toBe(null);
  expect(news(red, { state: 'needs-human-input' })).toMatchObject({ kind: 'needs-human-input', since: 5 });
});

test('a ready change names its merge once, and not if that would be refused', () => {
  const merge = 'pawl change merge cccccccc';
  const diff = 'pawl change diff cccccccc';
  const ready = (more: Partial<MergeRules>) => news({}, { state: 'ready', rules: { ...rules, ...more } });
  expect(ready({})).toMatchObject({ detail: 'passes its checks', next: [merge, diff] });
  const push = ready({ auto: true, remote: 'origin' });
  expect(push).toMatchObject({ detail: like(/allow-push`$/), next: [merge, diff] });
  const refused = ready({ source: 'checkout' });
  expect(refused).toMatchObject({ detail: like(/nothing is merged: .*git commit/), next: [diff] });
});

test('findings come before an ejection, and missing checks are named', () => {
  const findings = [{ kind: 'fewer-tests' as const, detail: 'fewer' }];
  expect(news({ findings, ejection }, { state: 'needs-human-input' })).toMatchObject({
    kind: 'needs-human-input',
    next: [/diff/, /approve/, /close/].map(like),
  });
  const noChecks = { state: 'blocked', detail: 'there are no checks: name them' } as const;
  expect(news({}, noChecks)).toMatchObject({ kind: 'no-checks', next: ['pawl init'] });
  expect(news({ queuedAt: null }, noChecks)).toBe(null);
  for (const state of ['open', 'queued', 'testing', 'green', 'merged', 'closed'] as const)
    expect(news({}, { state })).toBe(null);
});

const queue = { branch: 'main', beganAt: 1, emergency: null, pausedAt: null, waiting: null };
const kinds = (facts: Partial<QueueInboxFacts>) =>
  queueNews({
    queue,
    trouble: null,
    queued: [change],
    failure: { detail: '', fixer: null, trouble: null },
    ...facts,
  }).map(({ kind, since, changes }) => [kind, since, changes]);
const waiting = {
  reason: 'the checkout has changes',
  hint: 'Commit or stash them first.',
  changes: [change.id],
  since: 7,
};

test('a queue waits for a person only while changes wait for it, and a red target branch always', () => {
  const emergency = { commit: 'f'.repeat(40), checkId: 'x', since: 3, fixerId: null, trouble: null };
  expect(kinds({})).toEqual([]);
  expect(kinds({ queue: { ...queue, emergency }, queued: [] })).toEqual([['emergency', 3, []]]);
  expect(kinds({ queue: { ...queue, pausedAt: 4 } })).toEqual([['queue-paused', 4, [change.id]]]);
  expect(kinds({ queue: { ...queue, pausedAt: 4 }, queued: [] })).toEqual([]);
  expect(kinds({ trouble: 'line 3', queued: [] })).toEqual([['configuration', 1, []]]);
  expect(kinds({ trouble: 'line 3' })).toEqual([['configuration', 2, [change.id]]]);
  const misread = { ...waiting, reason: '.pawl/config.yaml: line 3', changes: [] };
  expect(kinds({ queue: { ...queue, pausedAt: 4, waiting: misread } })).toEqual([['configuration', 2, [change.id]]]);
  expect(kinds({ queue: { ...queue, waiting } })).toEqual([['held-up', 7, [change.id]]]);
  expect(kinds({ queue: { ...queue, waiting: { ...waiting, changes: [], since: null } } })).toEqual([
    ['queue-stuck', 2, [change.id]],
  ]);
});

test('a red main says why no agent could be started to repair it', () => {
  const emergency = { commit: 'f'.repeat(40), checkId: 'x', since: 3, fixerId: null, trouble: 'no CLI' };
  const detail = (failure: QueueInboxFacts['failure']) =>
    queueNews({ queue: { ...queue, emergency }, trouble: null, queued: [], failure })[0]?.detail;
  expect(detail({ detail: 'exit 1', fixer: null, trouble: 'no CLI' })).toBe(
    'exit 1; no agent could be started to repair it: no CLI',
  );
  expect(detail({ detail: '', fixer: null, trouble: 'no CLI' })).toBe('no agent could be started to repair it: no CLI');
  expect(detail({ detail: 'exit 1', fixer: 'calm-fox', trouble: 'no CLI' })).toBe('exit 1');
});

test('commits that were not proposed come with commands to inspect, propose and drop them', () => {
  const work = { agentId: 'a', projectId: 'p', branch: 'work/a', head: 'a'.repeat(40), definition: 'reader', at: 4 };
  expect(withheldNews(work, 'main')).toEqual({
    kind: 'withheld',
    since: 4,
    text: 'work/a has commits that are not proposed',
    detail: 'up to aaaaaaaaaa: the policy of the definition reader has no Patch',
    next: ['git log main..work/a', 'pawl change open work/a', 'git branch -D work/a'],
  });
});

test('everything that delays green changes comes with advice', () => {
  const [held] = queueNews({
    queue: { ...queue, waiting },
    trouble: null,
    queued: [change],
    failure: { detail: '', fixer: null, trouble: null },
  });
  expect(held).toMatchObject({ detail: waiting.reason, next: [waiting.hint, 'pawl queue'], text: 'A title' });
});

test('an agent that stopped at a budget waits until it is raised', () => {
  const cause = { reason: 'budget', of: 'agent', detail: '1100 of 1000 tokens' } as const;
  const run = aRun({ outcome: 'failed', endedAt: 9, cause });
  expect(budgetNews({ agent: anAgent(), run })).toMatchObject({
    kind: 'over-budget',
    since: 9,
    detail: expect.stringContaining('1100 of 1000 tokens') as string,
    next: [expect.stringContaining('--budget tokens=N') as string, expect.stringContaining('pawl inspect') as string],
  });
  expect(budgetNews({ agent: anAgent({ endedAt: 9 }), run })).toBe(null);
  expect(budgetNews({ agent: anAgent(), run: aRun({ outcome: 'failed', endedAt: 9 }) })).toBe(null);
});

function like(pattern: RegExp): unknown {
  return expect.stringMatching(pattern);
}
