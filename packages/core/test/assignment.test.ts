import { assignmentOf } from '@pawl/core/assignment';
import { taskOfMail } from '@pawl/core/prompt/turn-task';
import { fixTask } from '@pawl/core/ratchet/crew-task';
import { expect, test } from 'vitest';

test('an assignment is the planned task, else the first run’s task, and never a prompt that mail begins a turn with', () => {
  expect(assignmentOf({ planned: { name: 'Plan B' }, firstRun: { task: 'Plan B\n\nin detail' } })).toBe('Plan B');
  expect(assignmentOf({ planned: null, firstRun: { task: 'Do it' } })).toBe('Do it');
  expect(assignmentOf({ planned: null, firstRun: null })).toBe(null);
  for (const mode of ['execute', 'coordinate'] as const)
    for (const hasQuestion of [true, false])
      expect(assignmentOf({ planned: null, firstRun: { task: taskOfMail({ mode }, hasQuestion) } })).toBe(null);
});

test('the task of an agent that repairs main begins with what it is to do', () => {
  const target = { branch: 'main', remote: null };
  const task = fixTask({ target, commit: 'f'.repeat(40), check: null, output: '' });
  expect(task.split('\n')[0]).toBe('Repair main');
});
