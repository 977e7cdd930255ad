import { mayStart } from '@pawl/core/plan/plan';
import { contentText } from '@pawl/core/plan/plan-content';
import { readPlan } from '@pawl/core/plan/plan-reading';
import type { PlanFacts } from '@pawl/core/plan/plan-reading';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aContent, anInitiative, aPhase, aTask, wordId as idOf } from '@pawl/testing/plan-records';
import { someFacts } from './fixture.ts';

/** The state and cause of a task. */
function stateOf(facts: PlanFacts, name: string): string {
  const { state, detail } = readPlan(facts).tasks.get(idOf(name)) ?? { state: 'none', detail: '' };
  return detail === '' ? state : `${state}: ${detail}`;
}

describe('a task of a plan', () => {
  const two = [aPhase('design'), aPhase('build', { dependsOn: [idOf('design')] })];
  const inPhase = (name: string, phase: string, given = {}) => aTask(name, { phaseId: idOf(phase), ...given });

  test('starts when the tasks and phases before it have landed, and not before [planner 10]', () => {
    const facts = (given: Partial<ReturnType<typeof aTask>>) =>
      someFacts({ phases: two, tasks: [inPhase('a', 'design', given), inPhase('b', 'build')] });
    expect(stateOf(facts({}), 'a')).toBe('pending: it starts next');
    expect(stateOf(facts({}), 'b')).toBe('blocked: waits for the phase design');
    expect(stateOf(facts({ agentId: idOf('agent'), finishedAt: 4 }), 'b')).toBe('blocked: waits for the phase design');
    expect(stateOf(facts({ completedAt: 5 }), 'b')).toBe('pending: it starts next');
    const chain = someFacts({
      tasks: [aTask('a', { agentId: idOf('x'), finishedAt: 4 }), aTask('b', { dependsOn: [idOf('a')] })],
    });
    expect(stateOf(chain, 'b')).toBe('blocked: waits for a (in review)');
  });

  test.each([
    ['not approved', { approved: null }, 'its plan is not approved: pawl plan approve plan00'],
    ['edited after its approval', { hash: 'h2' }, 'its plan was edited after its approval: pawl plan approve plan00'],
    [
      'not launched',
      { initiative: anInitiative({ launchedAt: null }) },
      'its plan is not launched: pawl plan launch plan00',
    ],
    ['paused', { initiative: anInitiative({ pausedAt: 4 }) }, 'its plan is paused: pawl plan resume plan00'],
    ['archived', { initiative: anInitiative({ archivedAt: 4 }) }, 'its plan is archived'],
    [
      'over its budget',
      { breach: '5 of 4 USD' },
      'the budget of its plan is used up (5 of 4 USD): pawl plan edit plan00 --budget …',
    ],
  ])('does not start while its plan is %s [planner 4, 21]', (_, given, cause) => {
    const facts = someFacts({ tasks: [aTask('a')] }, given);
    expect(stateOf(facts, 'a')).toBe(`pending: ${cause}`);
    expect(mayStart(readPlan(facts).tasks.get(idOf('a'))!)).toBe(false);
  });

  test('that an agent found after the approval waits for the next one, and does not end this one [planner 16]', () => {
    const found = aTask('b', { foundWhile: idOf('a') });
    const facts = someFacts({ tasks: [aTask('a'), found] });
    const covered = { ...facts, approved: { ...facts.approved!, taskIds: [idOf('a')] } };
    expect(stateOf(covered, 'b')).toBe('pending: it was found after the plan was approved: pawl plan approve plan00');
    expect(stateOf(covered, 'a')).toBe('pending: it starts next');
    const before = aContent({ tasks: [aTask('a')] });
    const after = aContent({ tasks: [aTask('a'), found] });
    expect(contentText(after, new Set([idOf('a')]))).toBe(contentText(before));
    expect(contentText(after)).not.toBe(contentText(before));
  });

  test('with `if-failed` runs only after a failure, and is skipped otherwise [planner 11]', () => {
    const facts = (given: Partial<ReturnType<typeof aTask>>) =>
      someFacts({
        tasks: [
          aTask('a', given),
          aTask('b', { ifFailed: [idOf('a')] }),
          aTask('c', { dependsOn: [idOf('b')] }),
          aTask('d', { ifFailed: [idOf('b')] }),
        ],
      });
    expect(stateOf(facts({}), 'b')).toBe('blocked: waits for a failure of a');
    expect(stateOf(facts({ blockedReason: 'a person says so' }), 'b')).toBe('blocked: waits for a failure of a');
    expect(stateOf(facts({ blockedReason: 'crashed', failedAt: 4 }), 'b')).toBe('pending: it starts next');
    expect(stateOf(facts({ blockedReason: 'crashed', failedAt: 4 }), 'c')).toBe('blocked: waits for b');
    expect(stateOf(facts({ completedAt: 4 }), 'b')).toBe('skipped: it runs only if a fails');
    // Nothing waits for a skipped task, and a skipped task has not failed.
    expect(stateOf(facts({ completedAt: 4 }), 'c')).toBe('pending: it starts next');
    expect(stateOf(facts({ completedAt: 4 }), 'd')).toBe('skipped: it runs only if b fails');
  });

  test('waits for a free place among the agents of its plan [planner 12]', () => {
    const busy = ['w', 'x', 'y', 'z'].map((name) => aTask(name, { agentId: idOf(name) }));
    expect(stateOf(someFacts({ tasks: [aTask('a'), ...busy] }), 'a')).toBe(
      'pending: waits for a free place: 4 of 4 agents work on its plan',
    );
    const inReview = busy.map((task) => ({ ...task, finishedAt: 4 }));
    expect(stateOf(someFacts({ tasks: [aTask('a'), ...inReview] }), 'a')).toBe('pending: it starts next');
  });

  test('starts on a later phase only after the review of the one before, in mode review [planner 18]', () => {
    const facts = (mode: 'auto' | 'review', approvedAt: number | null) =>
      someFacts(
        {
          phases: [aPhase('design', { approvedAt }), aPhase('build', { dependsOn: [idOf('design')] })],
          tasks: [inPhase('a', 'design', { completedAt: 4 }), inPhase('b', 'build')],
        },
        { initiative: anInitiative({ mode }) },
      );
    expect(stateOf(facts('review', null), 'b')).toBe('blocked: waits for the phase design');
    expect(readPlan(facts('review', null)).phases.get(idOf('design'))).toMatchObject({ state: 'in_review' });
    expect(readPlan(facts('review', null)).initiative.state).toBe('in_review');
    expect(stateOf(facts('review', 5), 'b')).toBe('pending: it starts next');
    expect(stateOf(facts('auto', null), 'b')).toBe('pending: it starts next');
  });
});

describe('an initiative', () => {
  test.each([
    ['draft', someFacts({})],
    ['planned', someFacts({ tasks: [aTask('a')] }, { approved: null })],
    ['planned', someFacts({ tasks: [aTask('a')] }, { hash: 'h2' })],
    ['approved', someFacts({ tasks: [aTask('a')] }, { initiative: anInitiative({ launchedAt: null }) })],
    ['working', someFacts({ tasks: [aTask('a')] })],
    ['working', someFacts({ tasks: [aTask('a')] }, { initiative: anInitiative({ pausedAt: 4 }) })],
    ['completed', someFacts({ tasks: [aTask('a', { completedAt: 4 })] })],
    ['archived', someFacts({ tasks: [aTask('a')] }, { initiative: anInitiative({ archivedAt: 4 }) })],
  ])('is %s', (state, facts) => {
    expect(readPlan(facts).initiative.state).toBe(state);
  });

  test('counts no phase as done that has no tasks', () => {
    const facts = someFacts({
      phases: [aPhase('empty'), aPhase('next', { dependsOn: [idOf('empty')] })],
      tasks: [aTask('a', { phaseId: idOf('next') })],
    });
    expect(stateOf(facts, 'a')).toBe('blocked: waits for the phase empty');
    expect(readPlan(facts).phases.get(idOf('empty'))?.detail).toContain('it has no tasks');
  });
});

const times = fc.option(fc.integer({ min: 1, max: 9 }), { nil: null });
const someTask = fc.record({
  dependsOn: fc.uniqueArray(fc.integer({ min: 0, max: 5 }), { maxLength: 2 }),
  ifFailed: fc.uniqueArray(fc.integer({ min: 0, max: 5 }), { maxLength: 2 }),
  phase: fc.option(fc.integer({ min: 0, max: 2 }), { nil: null }),
  completedAt: times,
  finishedAt: times,
  failedAt: times,
  cancelledAt: times,
  hasAgent: fc.boolean(),
  isBlocked: fc.boolean(),
  isFound: fc.boolean(),
});

const somePlan = fc.record({
  tasks: fc.array(someTask, { minLength: 1, maxLength: 6 }),
  phases: fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 2 }), { maxLength: 2 }), { maxLength: 3 }),
  initiative: fc.record({
    launchedAt: times,
    pausedAt: times,
    archivedAt: times,
    mode: fc.constantFrom('auto' as const, 'review' as const),
  }),
  hash: fc.constantFrom('h1', 'h2'),
  isApproved: fc.boolean(),
  breach: fc.constantFrom(null, '5 of 4 USD'),
});

test('everything that does not run has a cause, in every state of a plan [planner 13]', () => {
  fc.assert(
    fc.property(somePlan, ({ tasks, phases, initiative, hash, isApproved, breach }) => {
      const name = (index: number) => `t${index}`;
      const content = {
        phases: phases.map((after, index) => aPhase(`p${index}`, { dependsOn: after.map((each) => idOf(`p${each}`)) })),
        tasks: tasks.map((task, index) =>
          aTask(name(index), {
            dependsOn: task.dependsOn.map((each) => idOf(name(each))),
            ifFailed: task.ifFailed.map((each) => idOf(name(each))),
            phaseId: task.phase === null ? null : idOf(`p${task.phase}`),
            completedAt: task.completedAt,
            finishedAt: task.hasAgent ? task.finishedAt : null,
            failedAt: task.failedAt,
            cancelledAt: task.cancelledAt,
            agentId: task.hasAgent ? idOf('agent') : null,
            blockedReason: task.isBlocked ? 'crashed' : null,
            foundWhile: task.isFound ? idOf('t0') : null,
          }),
        ),
      };
      const facts = someFacts(content, { initiative: anInitiative(initiative), hash, breach });
      const reading = readPlan(isApproved ? facts : { ...facts, approved: null });
      for (const { state, detail } of [...reading.tasks.values(), ...reading.phases.values()])
        if (['pending', 'blocked', 'skipped'].includes(state)) expect(detail).not.toBe('');
      if (['draft', 'planned', 'approved', 'in_review'].includes(reading.initiative.state))
        expect(reading.initiative.detail).not.toBe('');
    }),
  );
});
