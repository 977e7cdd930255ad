import { assignmentAfter, firstAssignment } from '@pawl/core/agents/assignment';
import { fixTask } from '@pawl/core/changes/crew-task';
import { describe, expect, test } from 'vitest';

test('an assignment is the planned task, else the first prompt', () => {
  expect(firstAssignment('Plan B\n\nin detail', { name: 'Plan B' })).toBe('Plan B');
  expect(firstAssignment('Do it', null)).toBe('Do it');
  expect(firstAssignment(null, null)).toBe(null);
  expect(firstAssignment(' \n', null)).toBe(null);
});

describe('a person’s prompt', () => {
  const worker = { assignment: 'Do it', class: 'ephemeral', mode: 'execute', taskId: null } as const;
  const completed = { outcome: 'completed', questions: null } as const;
  const told = { prompt: 'Now that', hasOpenChange: false };

  test('becomes the assignment of an agent with finished work, or with none', () => {
    expect(assignmentAfter(worker, completed, told)).toBe('Now that');
    expect(assignmentAfter({ ...worker, assignment: null }, null, told)).toBe('Now that');
  });

  test.each<[string, Parameters<typeof assignmentAfter>]>([
    ['while its change is open', [worker, completed, { ...told, hasOpenChange: true }]],
    ['while it waits for an answer', [worker, { ...completed, questions: [{ id: 'a', question: 'b' }] }, told]],
    ['after it failed', [worker, { ...completed, outcome: 'failed' }, told]],
    ['after it was stopped', [worker, { ...completed, outcome: 'cancelled' }, told]],
    ['of an errand', [{ ...worker, mode: 'errand' }, completed, told]],
    ['of a planned task', [{ ...worker, taskId: 'x' }, completed, told]],
    ['of an agent that stays', [{ ...worker, class: 'persistent' }, completed, told]],
  ])('keeps the assignment %s', (_name, given) => {
    expect(assignmentAfter(...given)).toBe('Do it');
  });
});

test('the task of an agent that repairs main starts with the goal', () => {
  const target = { branch: 'main', remote: null };
  const task = fixTask({ target, commit: 'f'.repeat(40), check: null, output: '' });
  expect(task.split('\n')[0]).toBe('Repair main');
});
