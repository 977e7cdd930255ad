import type { Change, Ejection } from '@pawl/schema/change';
import { expect, test } from 'vitest';
import { newChange } from '../../src/changes/change-life.ts';
import type { ChangeFacts } from '../../src/changes/change-state.ts';
import { changeState, isEligible, needsPerson } from '../../src/changes/change-state.ts';

const change = newChange({
  id: 'a'.repeat(22),
  projectId: 'b'.repeat(22),
  agentId: 'c'.repeat(22),
  taskId: null,
  branch: 'work/brave-otter',
  head: 'head',
  base: 'base',
  title: 'a title',
  summary: '',
  openedAt: 1,
  queuedAt: 2,
  examinedHead: 'head',
});
const rules = {
  enabled: true,
  hasChecks: true,
  review: false,
  branch: 'main',
  source: 'commit',
  checkout: null,
  auto: true,
  remote: null,
  pushAllowed: false,
} as const;
const byHand = { ...rules, auto: false };
const facts = (patch: Partial<Change> = {}, more: Partial<ChangeFacts> = {}): ChangeFacts => ({
  change: { ...change, ...patch },
  blocking: 0,
  rules,
  queue: { emergency: null, pausedAt: null, waiting: null },
  progress: null,
  ...more,
});
const finding = { kind: 'fewer-tests', detail: 'fewer tests run: 10 before, 5 now' } as const;
const ejection: Ejection = { kind: 'red', reason: 'exit code 1', files: [], checkId: null, head: 'head', at: 3 };
const emergency = { commit: 'f'.repeat(40), checkId: 'd'.repeat(22), since: 1, fixerId: 'e'.repeat(22), trouble: null };
const alarm = { queue: { emergency, pausedAt: null, waiting: null } };

test.each<[string, ChangeFacts, string, boolean]>([
  ['a change in the queue', facts(), 'queued', true],
  ['one whose head nobody has looked at yet', facts({ examinedHead: 'before' }), 'queued', false],
  ['one that nobody wants merged', facts({ queuedAt: null }), 'open', false],
  ['one that passed, and that nobody asked for', facts({ passedHead: 'head' }, { rules: byHand }), 'ready', true],
  ['one that passed before it moved on', facts({ passedHead: 'before' }, { rules: byHand }), 'queued', true],
  [
    'one that passed, and was asked for',
    facts({ passedHead: 'head', askedHead: 'head' }, { rules: byHand }),
    'queued',
    true,
  ],
  ['one that passed, and may be merged by now', facts({ passedHead: 'head' }), 'queued', true],
  [
    'one that passed, and is held',
    facts({ passedHead: 'head', hold: { reason: 'no', by: 'you', at: 1 } }, { rules: byHand }),
    'blocked',
    false,
  ],
  ['one that is checked', facts({}, { progress: 'testing' }), 'testing', true],
  ['one that has passed and cannot go in', facts({}, { progress: 'green' }), 'green', true],
  ['one that is held', facts({ hold: { reason: 'not yet', by: 'you', at: 1 } }), 'blocked', false],
  ['one with a blocking comment', facts({}, { blocking: 1 }), 'blocked', false],
  ['one without checks', facts({}, { rules: { ...rules, hasChecks: false } }), 'blocked', false],
  ['one of a queue that is off', facts({}, { rules: { ...rules, enabled: false } }), 'open', false],
  ['one that waits for a review', facts({}, { rules: { ...rules, review: true } }), 'open', false],
  ['one that was reviewed', facts({ reviewedHead: 'head' }, { rules: { ...rules, review: true } }), 'queued', true],
  [
    'one whose head has moved since its review',
    facts({ reviewedHead: 'before' }, { rules: { ...rules, review: true } }),
    'open',
    false,
  ],
  ['one that weakens the gate', facts({ findings: [finding] }), 'needs-human-input', false],
  ['one that weakens it, approved', facts({ findings: [finding], approvedHead: 'head' }), 'queued', true],
  [
    'one that was approved before it moved',
    facts({ findings: [finding], approvedHead: 'before' }),
    'needs-human-input',
    false,
  ],
  ['one that was put out', facts({ ejection }), 'ejected', false],
  ['one that has moved on since', facts({ ejection: { ...ejection, head: 'before' } }), 'queued', true],
  ['one that came back too often', facts({ ejection, returns: 3 }), 'needs-human-input', false],
  ['one whose comments nobody goes on with', facts({ returns: 3 }, { blocking: 1 }), 'needs-human-input', false],
  ['any other one while main is red', facts({}, alarm), 'queued', false],
  ['what repairs main', facts({ agentId: emergency.fixerId }, alarm), 'queued', true],
  ['one that was merged', facts({ mergedAt: 4, mergedCommit: 'abc', findings: [finding] }), 'merged', false],
  ['one that was closed', facts({ closedAt: 4, closeReason: 'no use', ejection }), 'closed', false],
])('%s', (_, given, state, eligible) => {
  expect(changeState(given).state).toBe(state);
  expect(isEligible(given)).toBe(eligible);
  expect(needsPerson(given) && given.change.closedAt === null && given.change.mergedAt === null).toBe(
    state === 'needs-human-input',
  );
});

test('a state comes with its reason', () => {
  expect(changeState(facts({ findings: [finding] })).detail).toBe('fewer tests run: 10 before, 5 now');
  expect(changeState(facts({}, alarm)).detail).toBe('waits: main is red at ffffffffff');
  const waiting = { reason: 'main is checked out, and has changes', changes: [change.id], hint: null, since: 1 };
  const green = facts({}, { progress: 'green', queue: { emergency: null, pausedAt: null, waiting } });
  expect(changeState(green).detail).toBe('waits: main is checked out, and has changes');
  expect(changeState(facts({ hold: { reason: 'not yet', by: 'you', at: 1 } })).detail).toBe('you: not yet');
});
