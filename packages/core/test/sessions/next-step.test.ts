import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import type { Step } from '../../src/sessions/next-step.ts';
import { nextStep } from '../../src/sessions/next-step.ts';
import { aRun, aSession, anAgent, idOf } from '../fixture.ts';

type Row = [name: string, facts: Partial<AgentFacts>, step: Step['do']];

const stopping = anAgent({ stopRequestedAt: 8 });
const dead = anAgent({ endedAt: 9 });
const retained = { state: 'retained', reason: 'dirty', at: 10 } as const;
const cancelled = aRun({ outcome: 'cancelled' });
const endedSession = aSession({ endedAt: 9 });
const completion = { at: 8, summary: 'it works', failure: null };
const done = anAgent({ completion });
const toCommit = aRun({ resultBefore: 'it works' });
const rows: Row[] = [
  ['no run', { run: null, session: null }, 'rest'],
  [
    'agent 0, which has no worktree',
    { agent: anAgent({ worktree: null, worktreeReadyAt: null }), run: null, session: null },
    'rest',
  ],
  [
    'S1-13: an idle fork without its worktree',
    { agent: anAgent({ worktreeReadyAt: null }), run: null, session: null },
    'make-worktree',
  ],
  [
    'W3-08, 5.2.11: an open run that waits',
    { run: aRun({ waitUntil: 99, waitFor: 'retry' }), session: endedSession },
    'wait',
  ],
  ['an ended run', { run: aRun({ outcome: 'completed' }), session: endedSession }, 'rest'],
  [
    'an ended run of an agent that is being stopped',
    { agent: stopping, run: aRun({ outcome: 'failed' }), session: endedSession },
    'rest',
  ],
  ['7.3: dead, with an open session', { agent: dead, run: cancelled }, 'stop-session'],
  [
    '7.3: dead, with a planned session, whose process may be there',
    { agent: dead, run: cancelled, session: aSession({ startedAt: null }) },
    'stop-session',
  ],
  ['7.3: dead in the middle of a run that was not ended', { agent: dead }, 'stop-session'],
  [
    '7.11: dead, with a worktree that is not settled',
    { agent: dead, run: cancelled, session: endedSession },
    'clean-up',
  ],
  [
    '7.11: dead before its worktree was made',
    { agent: anAgent({ endedAt: 9, worktreeReadyAt: null }), run: cancelled, session: null },
    'clean-up',
  ],
  ['7.11: dead without ever a run', { agent: dead, run: null, session: null }, 'clean-up'],
  [
    '7.11: dead and settled',
    { agent: anAgent({ endedAt: 9, worktreeEnd: retained }), run: cancelled, session: endedSession },
    'rest',
  ],
  [
    '7.11: dead and settled, but with an open session',
    { agent: anAgent({ endedAt: 9, worktreeEnd: retained }), run: cancelled },
    'stop-session',
  ],
  [
    '7.11: dead, and it never had a worktree',
    { agent: anAgent({ endedAt: 9, worktree: null, worktreeReadyAt: null }), run: null, session: null },
    'rest',
  ],
  ['7.3: a cancelled run with an open session', { run: cancelled }, 'stop-session'],
  ['7.3: a cancelled run whose session has left', { run: cancelled, session: endedSession }, 'rest'],
  ['an open session of a run that is gone', { run: null }, 'stop-session'],
  ['a fresh fork', { agent: anAgent({ worktreeReadyAt: null }), session: null }, 'make-worktree'],
  ['a worktree and no session', { session: null }, 'plan-session'],
  ['a planned session', { session: aSession({ startedAt: null }) }, 'start-session'],
  ['a running session', {}, 'watch'],
  ['an ended session of an open run', { session: aSession({ endedAt: 9 }) }, 'plan-session'],
  ['a session of an earlier run', { session: aSession({ runId: idOf('earlier'), endedAt: 9 }) }, 'plan-session'],
  ['a new run while the old session is open', { session: aSession({ runId: idOf('earlier') }) }, 'stop-session'],
  [
    'a new run while the old session is only planned',
    { session: aSession({ runId: idOf('earlier'), startedAt: null }) },
    'stop-session',
  ],
  ['7.3: completed, while its process runs', { agent: done }, 'watch'],
  ['7.3: completed before its process began', { agent: done, session: aSession({ startedAt: null }) }, 'stop-session'],
  ['7.3: completed between two sessions', { agent: done, session: endedSession }, 'retire'],
  [
    '7.3: completed while it waited for the end of a limit',
    { agent: done, run: aRun({ waitUntil: 99, waitFor: 'account' }), session: endedSession },
    'retire',
  ],
  ['7.3: completed at rest', { agent: done, run: aRun({ outcome: 'failed' }), session: endedSession }, 'retire'],
  ['7.3: completed without ever a run', { agent: done, run: null, session: null }, 'retire'],
  [
    '7.3: completed after a stop',
    { agent: anAgent({ completion, stopRequestedAt: 8 }), session: endedSession },
    'retire',
  ],
  ['7.11: completed, and asked to commit', { agent: done, run: toCommit, session: endedSession }, 'plan-session'],
  ['7.11: completed, and about to commit', { agent: done, run: toCommit }, 'watch'],
  [
    '7.11: completed, after it was asked to commit',
    { agent: done, run: aRun({ resultBefore: 'it works', outcome: 'completed' }), session: endedSession },
    'retire',
  ],
  [
    '7.3: completed and dead',
    { agent: anAgent({ completion, endedAt: 9 }), run: cancelled, session: endedSession },
    'clean-up',
  ],
  ['a stop of a running session', { agent: stopping }, 'stop-session'],
  [
    'a stop of a planned session, whose process may be there',
    { agent: stopping, session: aSession({ startedAt: null }) },
    'stop-session',
  ],
  ['a stop between two sessions', { agent: stopping, session: aSession({ endedAt: 9 }) }, 'cancel-run'],
  ['a stop before the first session', { agent: stopping, session: null }, 'cancel-run'],
  [
    'a stop before the worktree',
    { agent: anAgent({ stopRequestedAt: 8, worktreeReadyAt: null }), session: null },
    'cancel-run',
  ],
];

describe('the next step', () => {
  test.each(rows)('%s', (_name, facts, step) => {
    expect(nextStep({ agent: anAgent(), run: aRun(), session: aSession(), ...facts }).do).toBe(step);
  });
});

/** The facts that each step writes as its last act. */
const effects: Record<Exclude<Step['do'], 'watch' | 'rest'>, (facts: AgentFacts) => AgentFacts> = {
  'make-worktree': (facts) => ({ ...facts, agent: { ...facts.agent, worktreeReadyAt: 2 } }),
  wait: (facts) => ({ ...facts, run: aRun({ ...facts.run, waitUntil: null, waitFor: null }) }),
  'plan-session': (facts) => ({
    ...facts,
    session: aSession({ no: (facts.session?.no ?? 0) + 1, runId: facts.run?.id ?? '', startedAt: null, pid: null }),
  }),
  'start-session': (facts) => ({ ...facts, session: aSession({ ...facts.session, startedAt: 4, pid: 42 }) }),
  'stop-session': ({ agent, run, session }) => ({
    agent,
    // Only the session's own run ends with it; a newer one stays open.
    run: run !== null && run.id === session?.runId ? aRun({ ...run, outcome: run.outcome ?? 'cancelled' }) : run,
    session: aSession({ ...session, endedAt: 9 }),
  }),
  'cancel-run': (facts) => ({ ...facts, run: aRun({ ...facts.run, outcome: 'cancelled' }) }),
  retire: (facts) => ({
    ...facts,
    agent: { ...facts.agent, endedAt: 9 },
    run: facts.run === null ? null : aRun({ ...facts.run, outcome: facts.run.outcome ?? 'completed' }),
  }),
  'clean-up': (facts) => ({ ...facts, agent: { ...facts.agent, worktreeEnd: retained } }),
};

const moment = fc.constantFrom(null, 7);
const facts: fc.Arbitrary<AgentFacts> = fc.record({
  agent: fc
    .record({
      endedAt: moment,
      worktree: fc.constantFrom(null, '/worktrees/brave-otter'),
      worktreeReadyAt: moment,
      worktreeEnd: fc.constantFrom(null, retained),
      stopRequestedAt: moment,
      completion: fc.constantFrom(null, completion),
    })
    .map(anAgent),
  run: fc.option(
    fc
      .record({
        outcome: fc.constantFrom(null, 'completed' as const, 'failed' as const, 'cancelled' as const),
        waitUntil: moment,
        resultBefore: fc.constantFrom(null, 'it works'),
      })
      .map(aRun),
  ),
  session: fc.option(
    fc
      .record({ startedAt: moment, endedAt: moment, runId: fc.constantFrom(idOf('run'), idOf('earlier')) })
      .map(aSession),
  ),
});

test('from any facts, the steps lead to rest or watch, never in a circle [7.3]', () => {
  /** Stop an old session, make, wait, plan, start: five steps are the longest path. */
  const longestWay = 5;
  fc.assert(
    fc.property(facts, (start) => {
      const seen: Step['do'][] = [];
      let now = start;
      for (;;) {
        const step = nextStep(now).do;
        if (step === 'rest' || step === 'watch') break;
        expect(seen).not.toContain(step);
        seen.push(step);
        expect(seen.length).toBeLessThanOrEqual(longestWay);
        now = effects[step](now);
      }
      const { agent, run, session } = now;
      const open = session !== null && session.endedAt === null;
      // A process keeps running for one reason only: an open run of a living agent that was not stopped.
      const wanted = agent.endedAt === null && agent.stopRequestedAt === null && run?.outcome === null;
      expect(open).toBe(wanted);
      expect(nextStep(now).do).toBe(wanted ? 'watch' : 'rest');
      // No living agent loses a worktree, and a dead one's is always settled.
      expect(seen.includes('clean-up')).toBe(
        agent.endedAt !== null && agent.worktree !== null && start.agent.worktreeEnd === null,
      );
      // A dead agent gets nothing new.
      if (agent.endedAt !== null) {
        for (const step of ['make-worktree', 'plan-session', 'start-session'] as const)
          expect(seen).not.toContain(step);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('equal facts give equal steps, and asking changes nothing', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const before = structuredClone(given);
      expect(nextStep(given)).toEqual(nextStep(before));
      expect(given).toEqual(before);
    }),
  );
});
