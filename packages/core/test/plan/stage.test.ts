import { contentText } from '@pawl/core/plan/plan-content';
import { stagePlan } from '@pawl/core/plan/stage';
import type { PlanContent } from '@pawl/schema/plan/plan';
import { describe, expect, test } from 'vitest';
import { aContent, aPhase, aTask, wordId as idOf } from '@pawl/testing/plan-records';

const stage = (content: Partial<PlanContent>) => stagePlan(aContent(content), new Map());
const names = (waves: string[][]) => waves.map((wave) => wave.map((id) => id.replace(/0+$/, '')));

describe('stage', () => {
  test('names the whole cycle of tasks, and gives no waves [planner 6]', () => {
    const { errors, waves } = stage({
      tasks: [
        aTask('a', { dependsOn: [idOf('c')] }),
        aTask('b', { dependsOn: [idOf('a')] }),
        aTask('c', { dependsOn: [idOf('b')] }),
        aTask('free'),
      ],
    });
    expect(errors).toEqual(['These wait for each other: a → c → b → a.']);
    expect(waves).toEqual([]);
  });

  test('finds a cycle through phases: a task that waits for one of a later phase [planner 6]', () => {
    const { errors } = stage({
      phases: [aPhase('one'), aPhase('two', { dependsOn: [idOf('one')] })],
      tasks: [aTask('a', { phaseId: idOf('one'), dependsOn: [idOf('b')] }), aTask('b', { phaseId: idOf('two') })],
    });
    expect(errors).toHaveLength(1);
    for (const name of ['a', 'b', 'the phase one', 'the phase two']) expect(errors[0]).toContain(name);
  });

  test('names what does not exist', () => {
    const { errors } = stage({
      phases: [aPhase('one', { dependsOn: [idOf('gone')] })],
      tasks: [aTask('a', { dependsOn: [idOf('lost')], phaseId: idOf('nowhere') })],
    });
    expect(errors).toHaveLength(3);
    expect(stage({}).errors).toEqual(['The plan has no tasks.']);
  });

  const plan: Partial<PlanContent> = {
    phases: [
      aPhase('one'),
      aPhase('two', { dependsOn: [idOf('one')] }),
      aPhase('three', { dependsOn: [idOf('one')] }),
      aPhase('last', { dependsOn: [idOf('two'), idOf('three')], isIntegration: true }),
    ],
    tasks: [
      aTask('a', { phaseId: idOf('one') }),
      aTask('b', { phaseId: idOf('one'), dependsOn: [idOf('a')] }),
      aTask('c', { phaseId: idOf('two'), createdAt: 2 }),
      aTask('d', { phaseId: idOf('two'), priority: 'high', createdAt: 3 }),
      aTask('e', { phaseId: idOf('three') }),
      aTask('f', { phaseId: idOf('three'), priority: 'low' }),
      aTask('g', { phaseId: idOf('last') }),
    ],
  };

  test('waves follow phases and tasks, in the order of priority, age and id [planner 9]', () => {
    const { waves, errors, warnings } = stage(plan);
    expect([errors, warnings]).toEqual([[], []]);
    expect(names(waves)).toEqual([['a'], ['b'], ['d', 'e', 'c', 'f'], ['g']]);
  });

  test('waves and text are the same over 1,000 shuffles [planner 7]', () => {
    const whole = aContent(plan);
    const expected = stagePlan(whole, new Map()).waves;
    let seed = 7;
    const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
    const shuffled = <T>(list: readonly T[]) =>
      list
        .map((each) => [random(), each] as const)
        .toSorted(([one], [other]) => one - other)
        .map(([, each]) => each);
    for (let round = 0; round < 1_000; round++) {
      const other = { ...whole, phases: shuffled(whole.phases), tasks: shuffled(whole.tasks) };
      expect(stagePlan(other, new Map()).waves).toEqual(expected);
      expect(contentText(other)).toBe(contentText(whole));
    }
  });

  test('warns of two tasks of one wave that own the same file, by name or pattern [planner 17]', () => {
    const own = (files: string[], after: string[] = []) => ({ files, dependsOn: after.map(idOf) });
    const warned = (tasks: ReturnType<typeof aTask>[]) =>
      stage({ tasks }).warnings.filter((each) => each.includes('own'));
    expect(warned([aTask('a', own(['x.ts'])), aTask('b', own(['x.ts', 'y.ts']))])).toEqual([
      'a and b may run at the same time, and both own x.ts.',
    ]);
    expect(warned([aTask('a', own(['src/**'])), aTask('b', own(['src/deep/x.ts']))])).toHaveLength(1);
    expect(warned([aTask('a', own(['x.ts'])), aTask('b', own(['x.ts'], ['a']))])).toEqual([]);
  });

  test('warns of empty phases, unusual numbers of tasks, and several phases that nothing joins [planner 22]', () => {
    const { warnings } = stage({
      phases: [aPhase('one'), aPhase('two')],
      tasks: [aTask('a', { phaseId: idOf('one') })],
    });
    expect(warnings).toEqual([
      'The phase one has 1 task; 2 to 5 are usual.',
      'The phase two has no tasks: those after it will wait for it.',
      'one, two: nothing follows these phases and joins them.',
    ]);
  });

  test('1,000 tasks in 50 phases are staged, and depth does not matter', () => {
    const phases = Array.from({ length: 50 }, (_, index) =>
      aPhase(`p${index}x`, { dependsOn: index === 0 ? [] : [idOf(`p${index - 1}x`)] }),
    );
    const tasks = Array.from({ length: 1_000 }, (_, index) =>
      aTask(`t${index}x`, {
        phaseId: idOf(`p${Math.floor(index / 20)}x`),
        dependsOn: index % 20 === 0 ? [] : [idOf(`t${index - 1}x`)],
      }),
    );
    expect(stage({ phases, tasks }).waves).toHaveLength(1_000);
  });
});
