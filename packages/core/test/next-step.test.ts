import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentFacts, Step } from '../src/next-step.ts';
import { nextStep } from '../src/next-step.ts';
import { aRun, aSession, anAgent, idOf } from './fixture.ts';

type Row = [name: string, facts: Partial<AgentFacts>, step: Step['do']];

const stopping = anAgent({ stopRequestedAt: 8 });
const rows: Row[] = [
  ['no run', { run: null }, 'rest'],
  ['a dead agent', { agent: anAgent({ endedAt: 9 }) }, 'rest'],
  ['an ended run', { run: aRun({ outcome: 'completed' }) }, 'rest'],
  ['an ended run of an agent that is being stopped', { agent: stopping, run: aRun({ outcome: 'failed' }) }, 'rest'],
  ['a fresh fork', { agent: anAgent({ worktreeReadyAt: null }), session: null }, 'make-worktree'],
  ['a worktree and no session', { session: null }, 'plan-session'],
  ['a planned session', { session: aSession({ startedAt: null }) }, 'start-session'],
  ['a running session', {}, 'watch'],
  ['an ended session of an open run', { session: aSession({ endedAt: 9 }) }, 'plan-session'],
  ['a session of an earlier run', { session: aSession({ runId: idOf('earlier'), endedAt: 9 }) }, 'plan-session'],
  ['an open session of an earlier run', { session: aSession({ runId: idOf('earlier') }) }, 'plan-session'],
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
    expect(nextStep({ agent: anAgent(), run: aRun(), session: aSession(), ...facts })).toEqual({ do: step });
  });
});

/** What each step leaves on record as its last act. */
const effects: Record<Exclude<Step['do'], 'watch' | 'rest'>, (facts: AgentFacts) => AgentFacts> = {
  'make-worktree': (facts) => ({ ...facts, agent: { ...facts.agent, worktreeReadyAt: 2 } }),
  'plan-session': (facts) => ({
    ...facts,
    session: aSession({ no: (facts.session?.no ?? 0) + 1, runId: facts.run?.id ?? '', startedAt: null, pid: null }),
  }),
  'start-session': (facts) => ({ ...facts, session: aSession({ ...facts.session, startedAt: 4, pid: 42 }) }),
  'stop-session': (facts) => ({
    ...facts,
    session: aSession({ ...facts.session, endedAt: 9 }),
    run: aRun({ ...facts.run, outcome: 'cancelled' }),
  }),
  'cancel-run': (facts) => ({ ...facts, run: aRun({ ...facts.run, outcome: 'cancelled' }) }),
};

const moment = fc.constantFrom(null, 7);
const facts: fc.Arbitrary<AgentFacts> = fc.record({
  agent: fc.record({ endedAt: moment, worktreeReadyAt: moment, stopRequestedAt: moment }).map(anAgent),
  run: fc.option(fc.record({ outcome: fc.constantFrom(null, 'completed' as const, 'failed' as const) }).map(aRun)),
  session: fc.option(
    fc
      .record({ startedAt: moment, endedAt: moment, runId: fc.constantFrom(idOf('run'), idOf('earlier')) })
      .map(aSession),
  ),
});

test('the steps lead from any facts to rest or to watching, and never in a circle', () => {
  /** make, plan, start, then watch or stop, then rest: five steps are the longest way. */
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
      // Who was asked to stop is never left running.
      if (start.agent.stopRequestedAt !== null) expect(nextStep(now).do).toBe('rest');
    }),
    { numRuns: 500 },
  );
});

test('the same facts give the same step, and asking changes nothing', () => {
  fc.assert(
    fc.property(facts, (given) => {
      const before = structuredClone(given);
      expect(nextStep(given)).toEqual(nextStep(before));
      expect(given).toEqual(before);
    }),
  );
});
