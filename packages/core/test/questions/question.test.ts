import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Question } from '@pawl/schema/mail';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aDefinition } from '../definitions/fixture.ts';
import { aRun, aSession, anAgent, idOf } from '../fixture.ts';
import type { Asked } from '../../src/questions/question.ts';
import {
  checkQuestion,
  chooseAsked,
  cycleError,
  findCycle,
  refuseAsked,
  whyNoAnswer,
} from '../../src/questions/question.ts';

/** An idle agent that can be resumed, with overrides. */
function resting(given: Partial<Asked> = {}): Asked {
  const run = aRun({ outcome: 'completed', endedAt: 2 });
  return { agent: anAgent(), run, session: aSession({ endedAt: 2 }), resumable: true, ...given };
}

/** A working agent, with overrides. */
function working(given: Partial<Asked> = {}): Asked {
  return { agent: anAgent(), run: aRun(), session: aSession(), resumable: false, ...given };
}

const named = (name: string) => anAgent({ id: idOf(name), alias: name });

describe('who can answer [S3-62]', () => {
  test.each<[string, Asked]>([
    ['at work', working()],
    ['about to start', working({ session: null })],
    ['at work, fetching its mail itself', working({ run: aRun({ definition: aDefinition({ mail: 'pull' }) }) })],
    ['at rest', resting()],
    ['at rest after its run was cancelled', resting({ run: aRun({ outcome: 'cancelled' }) })],
    [
      'at rest, although ordinary mail does not wake it',
      resting({ run: aRun({ outcome: 'completed', definition: aDefinition({ mail: 'next-turn' }) }) }),
    ],
    ['the person', { ...resting(), agent: anAgent({ parentId: null }), run: null, session: null, resumable: false }],
  ])('an agent that is %s', (_, asked) => {
    expect(whyNoAnswer(asked)).toBeNull();
    refuseAsked(asked);
  });

  test.each<[string, Asked]>([
    ['dead', working({ agent: anAgent({ endedAt: 5, endReason: 'killed' }) })],
    ['paused', working({ session: aSession({ pausedAt: 3 }) })],
    ['being stopped', working({ agent: anAgent({ stopRequestedAt: 3 }) })],
    ['stopped', resting({ agent: anAgent({ stopRequestedAt: 3 }), run: aRun({ outcome: 'cancelled' }) })],
    ['failed', resting({ run: aRun({ outcome: 'failed' }) })],
    [
      'waiting for a person',
      resting({ run: aRun({ outcome: 'completed', questions: [{ id: 'a', question: 'which?' }] }) }),
    ],
    ['done for good', resting({ agent: anAgent({ completion: { at: 3, summary: null, failure: null } }) })],
    ['not resumable', resting({ resumable: false })],
    ['new', { ...resting(), run: null, session: null }],
    ['a subagent at rest', resting({ agent: anAgent({ kind: 'subagent' }) })],
    ['not ours', working({ agent: anAgent({ adopted: { pid: 1, start: '1', cwd: '/' } }), run: null })],
  ])('no agent that is %s, and the refusal says why', (_, asked) => {
    const why = whyNoAnswer(asked);
    expect(why).toMatch(/./);
    expect(() => refuseAsked(asked)).toThrow(expect.objectContaining({ code: 'conflict' }));
    expect(() => refuseAsked(asked)).toThrow(`${asked.agent.alias} cannot answer: ${why}.`);
  });
});

describe('of several [S3-61]', () => {
  const from = named('asker');
  const idle = resting({ agent: named('idle') });
  const busy = working({ agent: named('busy') });
  const dead = working({ agent: anAgent({ id: idOf('dead'), endedAt: 1 }) });
  const failed = resting({ agent: named('failed'), run: aRun({ outcome: 'failed' }) });

  test('a working agent is asked before an idle one, and before one that cannot answer', () => {
    expect(chooseAsked(from, [idle, busy], 'x').agent.alias).toBe('busy');
    expect(chooseAsked(from, [failed, idle], 'x').agent.alias).toBe('idle');
    expect(chooseAsked(from, [dead, idle], 'x').agent.alias).toBe('idle');
  });

  test('an empty target, the asker itself, and agents that cannot answer give different errors [5.2.13]', () => {
    const codeOf = (candidates: Asked[]) => {
      try {
        return chooseAsked(from, candidates, 'the task X');
      } catch (error) {
        return error instanceof PawlError ? [error.code, error.message] : error;
      }
    };
    expect(codeOf([])).toEqual(['not_found', 'No agent is working on the task X.']);
    expect(codeOf([dead])).toEqual(['not_found', 'No agent is working on the task X.']);
    expect(codeOf([working({ agent: from })])).toEqual(['invalid_input', 'You cannot ask yourself.']);
    expect(codeOf([failed])).toEqual(['conflict', expect.stringContaining('failed: its last run failed')]);
  });
});

test('a question must have a text, another recipient, and stay within the limit', () => {
  const [from, to] = [named('asker'), named('asked')];
  checkQuestion(from, to, 'which?', limits.openQuestions - 1);
  expect(() => checkQuestion(from, from, 'which?', 0)).toThrow('You cannot ask yourself');
  expect(() => checkQuestion(from, to, ' \n', 0)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  expect(() => checkQuestion(from, to, 'which?', limits.openQuestions)).toThrow(
    expect.objectContaining({ code: 'busy' }),
  );
});

describe('cycles [5.2.13]', () => {
  const wait = (fromId: string, toId: string) => ({ id: `${fromId}${toId}`, fromId, toId }) as Question;

  test.each<[string, Question[], string[] | null]>([
    ['nobody waits', [], null],
    ['the other waits for a third', [wait('b', 'c')], null],
    ['two wait for each other', [wait('b', 'a')], ['ba']],
    ['three do', [wait('b', 'c'), wait('c', 'a')], ['bc', 'ca']],
    [
      'the shortest way is the one that is named',
      [wait('b', 'd'), wait('b', 'c'), wait('d', 'e'), wait('e', 'a'), wait('c', 'a')],
      ['bc', 'ca'],
    ],
    ['others who wait in a circle do no harm', [wait('b', 'c'), wait('c', 'd'), wait('d', 'c')], null],
    ['whom one waits for already is none', [wait('a', 'b')], null],
  ])('%s', (_, open, expected) => {
    expect(findCycle(open, 'a', 'b')?.map(({ id }) => id) ?? null).toEqual(expected);
  });

  test('is found exactly if the recipient waits for the asker, over any others', () => {
    const agent = fc.integer({ min: 0, max: 7 }).map(String);
    fc.assert(
      fc.property(fc.array(fc.tuple(agent, agent), { maxLength: 16 }), ([...edges]) => {
        const open = edges.map(([from, to]) => wait(from, to));
        const reached = new Set(['1']);
        for (const each of reached) for (const [from, to] of edges) if (from === each) reached.add(to);
        const cycle = findCycle(open, '0', '1');
        expect(cycle !== null).toBe(reached.has('0'));
        if (cycle === null) return;
        expect([cycle[0]?.fromId, cycle.at(-1)?.toId]).toEqual(['1', '0']);
        cycle.slice(1).forEach((each, index) => expect(each.fromId).toBe(cycle[index]?.toId));
      }),
    );
  });

  test('name the aliases of all who wait', () => {
    const error = cycleError(['brave-otter', 'calm-owl']);
    expect(error.message).toMatch(/^brave-otter asks calm-owl asks brave-otter: /);
    expect(error).toMatchObject({ code: 'conflict', details: { cycle: ['brave-otter', 'calm-owl'] } });
  });
});
