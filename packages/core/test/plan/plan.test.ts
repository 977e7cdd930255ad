import { limits } from '@pawl/schema/limit';
import type { Task } from '@pawl/schema/record';
import { noInitiative } from '@pawl/schema/record';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  checkTaskPlan,
  normalisedName,
  pendingTasks,
  refuseCycle,
  sameTask,
  taskEnd,
  taskState,
  taskText,
} from '../../src/plan/plan.ts';
import { idOf } from '../fixture.ts';

function aTask(given: Partial<Task> = {}): Task {
  return {
    id: idOf('task'),
    projectId: idOf('project'),
    phase: '',
    name: 'write the parser',
    description: '',
    dependsOn: [],
    createdBy: null,
    createdAt: 1,
    summary: null,
    completedAt: null,
    finishedAt: null,
    blockedReason: null,
    crashes: 0,
    agentId: null,
    ...noInitiative,
    ...given,
  };
}

const byId = (...tasks: Task[]) => new Map(tasks.map((task) => [task.id, task]));

describe('the state of a task [W3-06]', () => {
  const other = aTask({ id: idOf('other'), name: 'design it' });

  test.each<[string, Partial<Task>, string, string]>([
    ['nobody at it', {}, 'pending', ''],
    ['somebody at it', { agentId: idOf('agent') }, 'in_progress', ''],
    ['completed', { completedAt: 5, agentId: idOf('agent') }, 'completed', ''],
    ['a reason', { blockedReason: 'too early' }, 'blocked', 'too early'],
    ['a task before it', { dependsOn: [other.id] }, 'blocked', 'waits for design it'],
    [
      'a task that does not exist',
      { dependsOn: [idOf('nobody')] },
      'blocked',
      `waits for ${idOf('nobody')}, which does not exist`,
    ],
    ['completed in spite of a reason', { completedAt: 5, blockedReason: 'x' }, 'completed', ''],
  ])('%s', (_name, given, state, detail) => {
    expect(taskState(aTask(given), byId(other))).toEqual({ state, detail });
  });

  test('a dependent task is pending once all its dependencies are completed, and not before', () => {
    const done = aTask({ id: idOf('done'), completedAt: 1 });
    const task = aTask({ dependsOn: [other.id, done.id] });
    expect(taskState(task, byId(other, done)).state).toBe('blocked');
    expect(taskState(task, byId({ ...other, completedAt: 2 }, done)).state).toBe('pending');
    const blocked = { ...other, blockedReason: 'x' };
    expect(pendingTasks([task, other, blocked], byId(other, done))).toEqual([other]);
  });

  test('tasks without a cycle can all be done, one by one', () => {
    const plans = fc.array(fc.array(fc.nat(19), { maxLength: 4 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(plans, (plan) => {
        const id = (number: number) => idOf(`task${number}x`);
        let tasks = plan.map((after, number) => {
          const dependsOn = after.filter((each) => each < number).map(id);
          return aTask({ id: id(number), name: `task ${number}`, dependsOn });
        });
        for (const task of tasks) refuseCycle(task, byId(...tasks));
        for (let round = 0; round < plan.length; round += 1) {
          const [next] = pendingTasks(tasks, byId(...tasks));
          expect(next).toBeDefined();
          tasks = tasks.map((task) => (task.id === next?.id ? { ...task, completedAt: round } : task));
        }
        expect(pendingTasks(tasks, byId(...tasks))).toEqual([]);
      }),
    );
  });
});

describe('the same task [5.2.15]', () => {
  test('is recognised by phase and name, ignoring case and spaces', () => {
    const open = aTask({ phase: 'one', name: 'Write  the\tParser' });
    expect(sameTask([open], { phase: 'one', name: ' write the parser ' })).toBe(open);
    expect(sameTask([open], { phase: 'two', name: open.name })).toBeNull();
    expect(sameTask([open], { phase: 'one', name: 'write the parsers' })).toBeNull();
    expect(sameTask([{ ...open, completedAt: 1 }], open)).toBeNull();
  });

  test('normalising is idempotent, and ignores spaces and case', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom(' ', '\t', '  \n '), (name, space) => {
        const once = normalisedName(name);
        expect(normalisedName(once)).toBe(once);
        expect(normalisedName(space + name + space)).toBe(once);
      }),
    );
  });
});

describe('a task is refused', () => {
  test.each<[string, Partial<Task>, string]>([
    ['without a name', { name: ' \t' }, 'invalid_input'],
    ['with a name that means any', { name: 'Next' }, 'invalid_input'],
    ['with a name of two lines', { name: 'a\nb' }, 'invalid_input'],
    ['with a name that steers a terminal', { name: 'a\u001b[2J' }, 'invalid_input'],
    ['with a long name', { name: 'x'.repeat(limits.taskNameCharacters + 1) }, 'too_large'],
    ['with a long phase', { phase: 'x'.repeat(limits.taskPhaseCharacters + 1) }, 'too_large'],
    ['with a long description', { description: 'ü'.repeat(limits.taskBytes / 2 + 1) }, 'too_large'],
    ['with a NUL', { description: 'a\0b' }, 'invalid_input'],
    [
      'with many dependencies',
      { dependsOn: Array.from({ length: limits.taskDependencies + 1 }, () => 'x') },
      'too_large',
    ],
  ])('%s', (_name, given, code) => {
    expect(() => checkTaskPlan(aTask(given))).toThrow(expect.objectContaining({ code }));
  });

  test('that would depend on itself, at any distance', () => {
    const chain = Array.from({ length: 30 }, (_, number) =>
      aTask({ id: idOf(`t${number}x`), dependsOn: number === 0 ? [] : [idOf(`t${number - 1}x`)] }),
    );
    const known = byId(...chain);
    const last = chain.at(-1) ?? aTask();
    expect(() => refuseCycle(last, known)).not.toThrow();
    const circle = { ...aTask({ id: idOf('t0x') }), dependsOn: [last.id] };
    expect(() => refuseCycle(circle, known)).toThrow(expect.objectContaining({ code: 'conflict' }));
    const itself = aTask({ dependsOn: [idOf('task')] });
    expect(() => refuseCycle(itself, byId(itself))).toThrow(expect.objectContaining({ code: 'conflict' }));
  });
});

test("an agent's prompt has the task and the results of its dependencies [W3-06]", () => {
  const before = aTask({ name: 'design it', summary: ' a grammar in docs/grammar.md \n' });
  const silent = aTask({ name: 'think' });
  const task = aTask({ description: 'by hand, no generator\n' });
  expect(taskText(task, [before, silent])).toBe(
    'write the parser\n\nby hand, no generator\n\nWhat came of "design it":\na grammar in docs/grammar.md',
  );
});

describe('a task when its agent’s run ends [W3-10]', () => {
  const agentId = idOf('agent');
  const taken = aTask({ agentId });
  const run = (
    outcome: 'completed' | 'failed' | 'cancelled',
    detail = 'so it ended',
    questions: unknown[] | null = null,
  ) => ({
    outcome,
    detail,
    questions,
  });

  test('completed: the result message is the summary, unless there is one', () => {
    expect(taskEnd(taken, agentId, run('completed'))).toEqual({ do: 'complete', summary: 'so it ended' });
    const said = { ...taken, summary: 'said before', completedAt: 1 };
    expect(taskEnd(said, agentId, run('failed'))).toEqual({ do: 'complete', summary: 'said before' });
    expect(taskEnd({ ...taken, agentId: null }, agentId, run('completed')).do).toBe('complete');
  });

  test("with questions it waits; another agent's task stays unchanged", () => {
    expect(taskEnd(taken, agentId, run('completed', '', [{}]))).toEqual({ do: 'keep' });
    const others = { ...taken, agentId: idOf('another') };
    for (const outcome of ['completed', 'failed', 'cancelled'] as const) {
      expect(taskEnd(others, agentId, run(outcome))).toEqual({ do: 'keep' });
    }
    expect(taskEnd({ ...taken, agentId: null }, agentId, run('failed'))).toEqual({ do: 'keep' });
  });

  test('crashed: requeued twice, blocked the third time; stops do not count', () => {
    expect(taskEnd(taken, agentId, run('failed'))).toMatchObject({ do: 'requeue', crashes: 1 });
    expect(taskEnd({ ...taken, crashes: 1 }, agentId, run('failed'))).toMatchObject({ do: 'requeue', crashes: 2 });
    expect(taskEnd({ ...taken, crashes: 2 }, agentId, run('failed'))).toEqual({
      do: 'block',
      crashes: 3,
      reason: 'its agents crashed 3 times, last with: so it ended',
    });
    expect(taskEnd({ ...taken, crashes: 2 }, agentId, run('cancelled'))).toMatchObject({ do: 'requeue', crashes: 2 });
  });
});
