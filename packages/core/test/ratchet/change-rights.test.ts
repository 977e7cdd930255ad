import type { Asker, ChangeVerb } from '@pawl/core/ratchet/change-rights';
import { kindOfComment, nameOf, refuseAddressing, refuseChangeVerb } from '@pawl/core/ratchet/change-rights';
import type { Change, ChangeComment } from '@pawl/schema/change';
import type { Agent } from '@pawl/schema/record';
import { describe, expect, test } from 'vitest';

const change = {
  id: 'c',
  projectId: 'p',
  agentId: 'author',
  standInId: null,
  branch: 'work/a',
  head: 'new',
  hold: null,
};
const aChange = (fields: Partial<Change> = {}) => ({ ...change, ...fields }) as Change;
const agent = (id: string, fields: Partial<Agent> = {}) =>
  ({ id, alias: id, kind: 'main', projectId: 'p', branch: null, ...fields }) as Agent;
const asks = (id: string, fields: Partial<Agent> = {}, hears: ('changes' | 'reviews' | 'emergency')[] = []): Asker => ({
  is: 'agent',
  agent: agent(id, fields),
  hears,
});

const askers: Record<string, Asker> = {
  person: { is: 'person' },
  author: asks('author'),
  'stand-in': asks('stand-in'),
  'owner of the branch': asks('owner', { branch: 'work/a' }),
  'who hears of changes': asks('listener', {}, ['changes']),
  'who hears of all else': asks('other', {}, ['reviews', 'emergency']),
  'another main': asks('other'),
  'a subagent of its author': asks('author', { kind: 'subagent' }),
  'one of another project': asks('author', { projectId: 'q', branch: 'work/a' }, ['changes']),
};
const verbs: ChangeVerb[] = ['comment', 'block', 'unblock', 'close', 'retry', 'merge', 'repair'];
const own = ['comment', 'block', 'unblock', 'close', 'retry', 'merge'];

test.each<[string, string[]]>([
  ['person', verbs],
  ['author', own],
  ['stand-in', own],
  ['owner of the branch', own],
  ['who hears of changes', ['comment', 'close']],
  ['who hears of all else', ['comment']],
  ['another main', ['comment']],
  ['a subagent of its author', []],
  ['one of another project', []],
])('7.18: %s may do exactly what is its own', (who, allowed) => {
  const may = (verb: ChangeVerb) => {
    try {
      refuseChangeVerb(askers[who] as Asker, aChange({ standInId: 'stand-in' }), verb);
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'forbidden' });
      return false;
    }
  };
  expect(verbs.filter(may)).toEqual(allowed);
});

test('an author lets go of its own hold only, whatever it is called', () => {
  const held = (by: string) => aChange({ hold: { reason: 'wait', by, at: 1 } });
  const author = asks('author', { alias: 'github' });
  expect(() => refuseChangeVerb(author, held(nameOf(author)), 'unblock')).not.toThrow();
  for (const by of ['a person', 'github', 'agent other', 'pawl'])
    expect(() => refuseChangeVerb(author, held(by), 'unblock')).toThrow(/only a person/);
});

describe('S4-14: a comment', () => {
  const comment = (fields: Partial<ChangeComment> = {}) =>
    ({ id: 'm', agentId: 'reviewer', head: 'new', kind: 'blocking', ...fields }) as ChangeComment;

  test.each([
    ['[BLOCKING] it leaks', 'blocking'],
    ['  \n\t[Blocking] it leaks', 'blocking'],
    ['I would not call this [BLOCKING]', 'note'],
    ['BLOCKING it leaks', 'note'],
    ['[BLOCKING', 'note'],
    ['', 'note'],
  ])('%j is %s', (body, kind) => expect(kindOfComment(body)).toBe(kind));

  test('is addressed by whoever made it, by a person, or by the author with another head and a word', () => {
    const passes: [Asker, ChangeComment, string][] = [
      [{ is: 'person' }, comment(), ''],
      [asks('reviewer'), comment(), ''],
      [asks('author'), comment({ head: 'old' }), 'done'],
    ];
    for (const [asker, about, how] of passes)
      expect(() => refuseAddressing(asker, aChange(), about, how)).not.toThrow();
    const refused = (asker: Asker, about: ChangeComment, how: string) => () =>
      refuseAddressing(asker, aChange(), about, how);
    expect(refused(asks('author'), comment(), 'done')).toThrow(expect.objectContaining({ code: 'conflict' }));
    expect(refused(asks('author'), comment({ head: 'old' }), ' ')).toThrow(
      expect.objectContaining({ code: 'invalid_input' }),
    );
    expect(refused(asks('other', {}, ['changes']), comment({ head: 'old' }), 'done')).toThrow(
      expect.objectContaining({ code: 'forbidden' }),
    );
    // What a person has said is not the agents' to take back.
    expect(refused(asks('author'), comment({ agentId: null }), 'done')).toThrow(
      expect.objectContaining({ code: 'conflict' }),
    );
  });
});
