import { expect, test } from 'vitest';
import { agentTone, changeTone, checkTone, mailTone, resultTone, taskTone, worktreeTone } from '../src/state-tone.ts';

test.each([
  ['completed', 'good'],
  ['running', 'active'],
  ['starting', 'active'],
  ['waiting_for_input', 'attention'],
  ['exhausted', 'attention'],
  ['paused', 'attention'],
  ['crashed', 'bad'],
  ['stopped', 'muted'],
  ['dead', 'muted'],
])('an agent that is %s has the tone %s', (state, tone) => {
  expect(agentTone(state)).toBe(tone);
});

test('changes, checks, tasks, mail and worktrees need attention where a person must act', () => {
  expect((['ready', 'testing', 'ejected', 'blocked', 'closed', 'queued'] as const).map(changeTone)).toEqual([
    'good',
    'active',
    'bad',
    'attention',
    'muted',
    'plain',
  ]);
  expect((['passed', 'failed', 'cancelled', 'running'] as const).map(checkTone)).toEqual([
    'good',
    'bad',
    'muted',
    'active',
  ]);
  expect((['completed', 'in_review', 'blocked'] as const).map(taskTone)).toEqual(['good', 'active', 'attention']);
  expect((['merged', 'failed', 'over-budget', 'open', 'no-pr'] as const).map(resultTone)).toEqual([
    'good',
    'bad',
    'attention',
    'active',
    'muted',
  ]);
  expect(mailTone({ dead: null, status: 'pending' })).toBe('strong');
  expect(mailTone({ dead: null, status: 'read' })).toBe('muted');
  expect((['in-use', 'trashed', 'retained', 'missing'] as const).map(worktreeTone)).toEqual([
    'good',
    'muted',
    'attention',
    'bad',
  ]);
});
