import type { Change, Ejection } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import { expect, test } from 'vitest';
import type { Holder, Returned, ReturnFacts } from '../../src/changes/change-return.ts';
import { holderOf, nextReturn } from '../../src/changes/change-return.ts';
import { anAgent, aRun, aSession } from '../fixture.ts';

const ejection: Ejection = { kind: 'red', reason: 'it fails', files: [], checkId: null, head: 'h1', at: 5 };
const ejected = { agentId: 'author', head: 'h1', ejection, returns: 0 } as Change;
const blocked = { ...ejected, ejection: null };
const told: Returned = { head: 'h1', ejectedAt: 5, comments: [], to: 'author', mailId: 'm' };

function step(given: Partial<ReturnFacts>): string {
  const usual = {
    change: ejected,
    blocking: [],
    last: null,
    author: 'resting',
    hadItsTurn: false,
    hasStandIn: true,
  } as const;
  const facts = { ...usual, ...given };
  const { do: what } = nextReturn({ holder: facts.author, ...facts });
  return what;
}

test.each<[Holder, boolean, string]>([
  ['resting', true, 'tell-author'],
  ['working', true, 'tell-author'],
  ['waiting', true, 'tell-author'],
  ['gone', true, 'stand-in'],
  ['gone', false, 'give-up'],
  ['person', true, 'nothing'],
])('a returned change with author %s and stand-in allowed: %s', (author, hasStandIn, expected) => {
  expect(step({ author, hasStandIn })).toBe(expected);
});

test('once per head and reason', () => {
  expect(step({ last: told })).toBe('nothing');
  expect(step({ last: { ...told, head: 'h0' } })).toBe('tell-author');
  expect(step({ last: { ...told, ejectedAt: 4 } })).toBe('tell-author');
  expect(step({ change: blocked, blocking: [{ id: 'c1' }], last: told })).toBe('tell-author');
  expect(step({ change: blocked, blocking: [{ id: 'c1' }], last: { ...told, comments: ['c1'] } })).toBe('nothing');
  expect(step({ change: { ...ejected, returns: limits.changeReturns } })).toBe('nothing');
  expect(step({ change: blocked })).toBe('nothing');
});

test('an ejection of an earlier head is over', () => {
  expect(step({ change: { ...ejected, head: 'h2' } })).toBe('nothing');
});

test('an author that pushed a new head and is still working may be about to address comments', () => {
  const moved = { change: { ...blocked, head: 'h2' }, blocking: [{ id: 'c1' }], last: { ...told, comments: ['c1'] } };
  expect(step({ ...moved, author: 'working' })).toBe('nothing');
  expect(step({ ...moved, author: 'resting' })).toBe('tell-author');
});

test('an agent that was told and proposes nothing has given up', () => {
  expect(step({ last: told, hadItsTurn: true })).toBe('give-up');
  expect(step({ last: told, hadItsTurn: true, author: 'working' })).toBe('nothing');
  expect(step({ last: told, author: 'gone' })).toBe('stand-in');
  const inPlace = { last: { ...told, to: 'other', mailId: null }, author: 'gone' } as const;
  expect(step({ ...inPlace, holder: 'working' })).toBe('nothing');
  expect(step({ ...inPlace, holder: 'resting', hadItsTurn: true })).toBe('give-up');
  expect(step({ ...inPlace, holder: 'gone' })).toBe('give-up');
  expect(step({ ...inPlace, holder: 'waiting', hadItsTurn: true })).toBe('nothing');
});

const rest = aRun({ outcome: 'completed', endedAt: 9 });
test.each<[string, Holder, Parameters<typeof holderOf>]>([
  ['not there', 'gone', [null, true]],
  ['dead', 'gone', [{ agent: anAgent({ endedAt: 9 }), run: rest, session: null }, true]],
  [
    'done for good',
    'gone',
    [{ agent: anAgent({ completion: { at: 1, summary: null, failure: null } }), run: rest, session: null }, true],
  ],
  ['at work', 'working', [{ agent: anAgent(), run: aRun(), session: aSession() }, false]],
  ['paused', 'waiting', [{ agent: anAgent(), run: aRun(), session: aSession({ pausedAt: 1 }) }, false]],
  ['stopped', 'waiting', [{ agent: anAgent({ stopRequestedAt: 1 }), run: rest, session: null }, true]],
  ['at rest', 'resting', [{ agent: anAgent(), run: rest, session: null }, true]],
  ['not to be gone on with', 'gone', [{ agent: anAgent(), run: rest, session: null }, false]],
  [
    'crashed',
    'gone',
    [{ agent: anAgent({ class: 'ephemeral' }), run: aRun({ outcome: 'failed' }), session: null }, true],
  ],
  [
    'there for good, and crashed',
    'waiting',
    [{ agent: anAgent({ class: 'persistent' }), run: aRun({ outcome: 'failed' }), session: null }, true],
  ],
  [
    'asking a person',
    'waiting',
    [{ agent: anAgent(), run: { ...rest, questions: [{ id: '1', question: '?' }] }, session: null }, true],
  ],
])('an author that is %s is %s', (_name, expected, [facts, isResumable]) => {
  expect(holderOf(facts, isResumable)).toBe(expected);
});
