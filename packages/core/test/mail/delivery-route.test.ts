import type { Definition } from '@pawl/schema/definition';
import { limits } from '@pawl/schema/limit';
import { expect, test } from 'vitest';
import type { RouteFacts } from '../../src/mail/delivery-route.ts';
import { routeOfMail } from '../../src/mail/delivery-route.ts';
import { aDefinition } from '../definitions/fixture.ts';
import { anAgent, aRun, aSession } from '../fixture.ts';

const mail = { kind: 'message', byPerson: false } as const;

function facts(given: Partial<RouteFacts> = {}): RouteFacts {
  return {
    agent: anAgent(),
    run: aRun(),
    session: aSession(),
    listens: true,
    resumable: true,
    waiting: [mail],
    wakes: 0,
    ...given,
  };
}

const working = facts();
const resting = facts({ run: aRun({ outcome: 'completed', endedAt: 9 }), listens: false });
const withPolicy = (of: RouteFacts, policy: Definition['mail']): RouteFacts => ({
  ...of,
  run: of.run && { ...of.run, definition: aDefinition({ mail: policy }) },
});

test.each<[string, RouteFacts, string]>([
  ['in the middle of a turn that listens', working, 'live'],
  ['in a turn that does not listen', { ...working, listens: false }, 'wait'],
  ['paused', { ...working, session: aSession({ pausedAt: 5 }) }, 'wait'],
  ['being stopped', { ...working, agent: anAgent({ stopRequestedAt: 5 }) }, 'wait'],
  ['never started', facts({ run: null, session: null, listens: false }), 'wait'],
  ['idle', resting, 'wake'],
  ['idle after its run was cancelled', facts({ run: aRun({ outcome: 'cancelled' }), listens: false }), 'wake'],
  ['stopped', { ...resting, agent: anAgent({ stopRequestedAt: 5 }) }, 'wait'],
  ['crashed', facts({ run: aRun({ outcome: 'failed' }), listens: false }), 'wait'],
  [
    'waiting for a person',
    facts({ run: aRun({ outcome: 'completed', questions: [{ id: '1', question: 'Which?' }] }), listens: false }),
    'wait',
  ],
  ['idle, but its conversation is lost', { ...resting, resumable: false }, 'wait'],
  ['a subagent at rest', { ...resting, agent: anAgent({ kind: 'subagent' }) }, 'wait'],
  [
    'completed for good',
    { ...resting, agent: anAgent({ completion: { at: 1, summary: null, failure: null } }) },
    'wait',
  ],
  ['dead', { ...resting, agent: anAgent({ endedAt: 5 }) }, 'dead'],
  ['a person', facts({ agent: anAgent({ parentId: null }) }), 'wait'],
  ['adopted', facts({ agent: anAgent({ adopted: { pid: 1, start: '1', cwd: '/' } }) }), 'wait'],
])('mail for an agent that is %s', (_name, given, route) => {
  expect(routeOfMail(given).kind).toBe(route);
});

test("a definition's mail policy applies to agents' mail, not to questions and people [7.5]", () => {
  const routes = (policy: Definition['mail'], waiting: RouteFacts['waiting']) =>
    routeOfMail({ ...withPolicy(resting, policy), waiting }).kind;
  expect(routes('wake', [mail])).toBe('wake');
  for (const policy of ['next-turn', 'pull'] as const) {
    expect(routes(policy, [mail])).toBe('wait');
    expect(routes(policy, [mail, { kind: 'question', byPerson: false }])).toBe('wake');
    expect(routes(policy, [{ kind: 'message', byPerson: true }])).toBe('wake');
  }
  expect(routeOfMail(withPolicy(working, 'pull')).kind).toBe('wait');
});

test("Pawl's own notices start no turn, except nudges and alerts", () => {
  expect(routeOfMail({ ...resting, waiting: [{ kind: 'system', byPerson: true }] }).kind).toBe('wait');
  expect(routeOfMail({ ...resting, waiting: [{ kind: 'nudge', byPerson: true }] }).kind).toBe('wake');
  expect(routeOfMail({ ...resting, waiting: [{ kind: 'alert', byPerson: true }] })).toEqual({
    kind: 'wake',
    counts: false,
  });
});

test('ordinary mail wakes an agent a limited number of times per hour, a question always', () => {
  const often = { ...resting, wakes: limits.mailWakesPerHour };
  expect(routeOfMail(often)).toMatchObject({ kind: 'wait' });
  expect(routeOfMail({ ...often, waiting: [mail, { kind: 'question', byPerson: false }] }).kind).toBe('wake');
  expect(routeOfMail({ ...resting, wakes: limits.mailWakesPerHour - 1 }).kind).toBe('wake');
});

test.each<
  [RouteFacts['waiting'][number]['kind'], boolean, ReturnType<typeof routeOfMail>['kind'], boolean | undefined]
>([
  ['message', false, 'wake', true],
  ['answer', false, 'wake', true],
  ['completion', false, 'wake', true],
  ['message', true, 'wake', false],
  ['question', false, 'wake', false],
  ['nudge', false, 'wake', false],
  ['alert', false, 'wake', false],
  ['system', false, 'wait', undefined],
])('a %s (by a person: %s) for an idle agent: %s; counts: %s', (kind, byPerson, route, counts) => {
  const waiting = [{ kind, byPerson }];
  expect(routeOfMail({ ...resting, waiting })).toMatchObject(
    counts === undefined ? { kind: route } : { kind: route, counts },
  );
  // Other waiting mail does not hold it up.
  const beside = { kind: 'system', byPerson: false } as const;
  expect(routeOfMail({ ...resting, waiting: [beside, ...waiting, beside] }).kind).toBe(route);
});

test('a persistent agent is woken for its first turn as its definition says; one with a task starts with that', () => {
  const unused = facts({ run: null, session: null, listens: false });
  const lasting = { ...unused, agent: anAgent({ class: 'persistent' }) };
  expect(routeOfMail({ ...lasting, first: aDefinition({ mail: 'wake' }) })).toEqual({ kind: 'wake', counts: true });
  expect(routeOfMail({ ...lasting, first: aDefinition({ mail: 'pull' }) }).kind).toBe('wait');
  expect(routeOfMail({ ...lasting, first: null })).toMatchObject({ kind: 'wait', why: 'it has not started yet' });
  expect(routeOfMail({ ...unused, first: aDefinition({ mail: 'wake' }) }).kind).toBe('wait');
});

test('the sender learns the reason to wait', () => {
  const why = (given: RouteFacts) => {
    const route = routeOfMail(given);
    return 'why' in route ? route.why : route.kind;
  };
  expect(why({ ...working, listens: false })).toBe('it is in the middle of a turn');
  expect(why({ ...working, session: aSession({ pausedAt: 5 }) })).toBe('it is paused');
  expect(why({ ...resting, agent: anAgent({ endedAt: 5, endReason: 'killed' }) })).toBe('brave-otter is dead (killed)');
  expect(why({ ...resting, agent: anAgent({ endedAt: 5 }) })).toBe('brave-otter is dead (ended)');
  // Without a recorded definition, mail wakes.
  expect(routeOfMail({ ...resting, run: aRun({ outcome: 'completed', definition: null }) })).toEqual({
    kind: 'wake',
    counts: true,
  });
});
