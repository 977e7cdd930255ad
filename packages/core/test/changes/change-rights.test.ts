import type { Asker, ChangeAccess, ChangeVerb } from '@pawl/core/changes/change-rights';
import {
  nameOf,
  refuseAddressing,
  refuseBlocking,
  refuseChangeVerb,
  refuseClosing,
} from '@pawl/core/changes/change-rights';
import type { Access } from '@pawl/schema/access';
import type { Change, ChangeComment, Ejection } from '@pawl/schema/change';
import type { AgentAction, Hearing } from '@pawl/schema/definition';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { describe, expect, test } from 'vitest';

const forMains = (...actions: AgentAction[]): Access => ({
  does: 'do this',
  agents: 'main',
  invariant: 'change',
  needs: { actions: actions.length === 0 ? [] : [actions] },
  row: '',
});
const access: ChangeAccess = {
  comment: forMains(),
  block: forMains('Patch', 'Finalize'),
  unblock: forMains('Patch', 'Finalize'),
  close: {
    ...forMains('Patch', 'Finalize'),
    also: { when: 'it is another agent’s', needs: { actions: [['Finalize']], hears: 'changes' } },
  },
  retry: forMains('Patch'),
  merge: forMains('Patch'),
  repair: forMains('Patch'),
};

const change = {
  id: 'c',
  projectId: 'p',
  agentId: 'author',
  standInId: null,
  branch: 'work/a',
  head: 'new',
  hold: null,
  findings: [],
  ejection: null,
  retriedAt: null,
  reviewedHead: null,
  reviewerId: 'reviewer',
  returns: 0,
};
const aChange = (fields: Partial<Change> = {}) => ({ ...change, ...fields }) as Change;
const agent = (id: string, fields: Partial<Agent> = {}) =>
  ({ id, alias: id, kind: 'main', projectId: 'p', branch: null, ...fields }) as Agent;
const asks = (
  id: string,
  fields: Partial<Agent> = {},
  hears: Hearing[] = [],
  allow: AgentAction[] = ['Patch', 'Finalize'],
): Asker => ({
  is: 'agent',
  agent: agent(id, fields),
  definition: { id: 'any', policy: { allow, delegateTargets: [] }, hears },
});

const askers: Record<string, Asker> = {
  person: { is: 'person' },
  author: asks('author'),
  'stand-in': asks('stand-in'),
  'owner of the branch': asks('owner', { branch: 'work/a' }),
  'who hears of changes': asks('listener', {}, ['changes']),
  'who hears of all else': asks('other', {}, ['reviews', 'emergency']),
  'another main': asks('other'),
  'an author with Patch only': asks('author', {}, [], ['Patch']),
  'an author with Finalize only': asks('author', {}, [], ['Finalize']),
  'an author without a policy': asks('author', {}, ['changes'], []),
  'who hears of changes and may only patch': asks('listener', {}, ['changes'], ['Patch', 'Delegate']),
  'who may finalize and does not hear of changes': asks('supervisor', {}, ['emergency'], ['Finalize', 'Delegate']),
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
  ['an author with Patch only', own],
  ['an author with Finalize only', ['comment', 'block', 'unblock', 'close']],
  ['an author without a policy', ['comment']],
  ['who hears of changes and may only patch', ['comment']],
  ['who may finalize and does not hear of changes', ['comment']],
  ['a subagent of its author', []],
  ['one of another project', []],
])('%s may do exactly what it is entitled to [7.18, S2-17, S4-04]', (who, allowed) => {
  const asker = askers[who] as Asker;
  const isAllowed = (verb: ChangeVerb) =>
    may(() => refuseChangeVerb(access, asker, aChange({ standInId: 'stand-in' }), verb));
  expect(verbs.filter(isAllowed)).toEqual(allowed);
});

test('an author releases only its own hold, whatever its alias', () => {
  const held = (by: string) => aChange({ hold: { reason: 'wait', by, at: 1 } });
  const author = asks('author', { alias: 'github' });
  expect(() => refuseChangeVerb(access, author, held(nameOf(author)), 'unblock')).not.toThrow();
  for (const by of ['a person', 'github', 'agent other', 'pawl'])
    expect(() => refuseChangeVerb(access, author, held(by), 'unblock')).toThrow(/only a person/);
});

const comment = (fields: Partial<ChangeComment> = {}) =>
  ({ id: 'm', agentId: 'reviewer', head: 'new', kind: 'blocking', ...fields }) as ChangeComment;
const may = (act: () => void) => {
  try {
    act();
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'forbidden' });
    return false;
  }
};

test('an agent retries an ejected change once per head, and never when a person is asked', () => {
  const ejection: Ejection = { kind: 'red', reason: 'red', files: [], checkId: null, head: 'new', at: 1 };
  const retry = (asker: Asker, fields: Partial<Change>) =>
    may(() => refuseChangeVerb(access, asker, aChange({ ejection, ...fields }), 'retry'));
  const author = asks('author');
  expect(retry(author, {})).toBe(true);
  expect(retry(author, { retriedAt: 5 })).toBe(false);
  expect(retry(author, { returns: limits.changeReturns })).toBe(false);
  // A retried change that still waits may be requested again: that is no second try.
  expect(retry(author, { retriedAt: 5, ejection: null })).toBe(true);
  expect(retry({ is: 'person' }, { retriedAt: 5, returns: limits.changeReturns })).toBe(true);
});

test('an agent closes nothing that others object to; one that hears of changes may override agents', () => {
  const hold = (by: string) => aChange({ hold: { reason: 'wait', by, at: 1 } });
  const author = asks('author');
  const listener = asks('listener', {}, ['changes']);
  const close = (asker: Asker, about: Change, comments: ChangeComment[] = []) =>
    may(() => refuseClosing(access, asker, about, comments));
  expect(close(author, aChange(), [comment({ agentId: 'author' })])).toBe(true);
  expect(close(author, hold('agent author'))).toBe(true);
  expect(close(author, hold('agent other'))).toBe(false);
  expect(close(author, aChange(), [comment()])).toBe(false);
  expect(close(listener, hold('agent author'), [comment()])).toBe(true);
  for (const asker of [author, listener]) {
    for (const by of ['a person', 'github']) expect(close(asker, hold(by))).toBe(false);
    expect(close(asker, aChange(), [comment({ agentId: null })])).toBe(false);
  }
  expect(close({ is: 'person' }, hold('agent other'), [comment()])).toBe(true);
});

test('only a person and its reviewer may block a change that repairs a red main', () => {
  const block = (asker: Asker, fixerId: string | null, fields: Partial<Change> = {}) =>
    may(() => refuseBlocking(asker, aChange(fields), fixerId));
  for (const asker of [{ is: 'person' } as const, asks('reviewer')]) expect(block(asker, 'author')).toBe(true);
  expect(block(asks('other'), 'author')).toBe(false);
  expect(block(asks('other'), 'helper', { standInId: 'helper' })).toBe(false);
  expect(block(asks('other'), 'somebody else')).toBe(true);
  expect(block(asks('other'), null, { agentId: null })).toBe(true);
});

describe('a comment [S4-14]', () => {
  test("is addressed by its author, by a person, or by the change's author with a new head and an explanation", () => {
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
    // Agents may not settle a person's comment, unless the new head was reviewed.
    for (const head of ['old', 'new'])
      expect(refused(asks('author'), comment({ agentId: null, head }), 'done')).toThrow(
        expect.objectContaining({ code: 'conflict' }),
      );
    const reviewed = aChange({ reviewedHead: 'new' });
    expect(() =>
      refuseAddressing(asks('author'), reviewed, comment({ agentId: null, head: 'old' }), 'done'),
    ).not.toThrow();
    expect(() => refuseAddressing(asks('author'), reviewed, comment({ agentId: null }), 'done')).toThrow(
      /Nothing new was/,
    );
  });
});
