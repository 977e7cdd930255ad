import type { AccessQuestion } from '../../src/definitions/access.ts';
import { chooseAccess, defaultAccess, inheritedAccess, narrower } from '../../src/definitions/access.ts';
import { describe, expect, test } from 'vitest';

const own = [{ layer: 'user' as const, path: 'worker.md' }];
const foreign = [{ layer: 'repository' as const, path: '.pawl/agents/worker.md' }];

function question(given: Partial<AccessQuestion> = {}): AccessQuestion {
  return {
    asked: undefined,
    definition: { id: 'worker', access: null, sources: own },
    project: null,
    home: null,
    sandboxWorks: 'off',
    parent: { alias: 'root', access: 'full', accessNeeds: null },
    byPerson: true,
    ...given,
  };
}

const levelOf = (given: AccessQuestion) => chooseAccess(given).access;

describe('the access of a new agent', () => {
  test('by default it is full, and ask where the sandbox does not work', () => {
    expect(levelOf(question())).toBe('full');
    expect(levelOf(question({ sandboxWorks: true }))).toBe('full');
    expect(levelOf(question({ sandboxWorks: false }))).toBe('ask');
    expect(defaultAccess('off')).toBe('full');
  });

  test('full access that no person stated needs a sandbox', () => {
    const needsOf = (given: Partial<AccessQuestion>) =>
      chooseAccess(question({ sandboxWorks: true, ...given })).accessNeeds;
    expect(needsOf({})).toBe('sandbox');
    expect(needsOf({ sandboxWorks: 'off' })).toBe(null);
    expect(needsOf({ asked: 'full' })).toBe(null);
    expect(needsOf({ home: 'full' })).toBe(null);
    expect(needsOf({ definition: { id: 'worker', access: 'full', sources: own } })).toBe(null);
    expect(needsOf({ definition: { id: 'worker', access: 'full', sources: foreign } })).toBe('sandbox');
    expect(needsOf({ home: 'ask' })).toBe(null);
    // A child of such an agent needs it, too, unless a person states its access.
    const parent = { alias: 'owl', access: 'full' as const, accessNeeds: 'sandbox' as const };
    expect(needsOf({ parent, home: 'full' })).toBe('sandbox');
    expect(needsOf({ parent, asked: 'full', byPerson: false })).toBe('sandbox');
    expect(inheritedAccess(undefined, parent, true)).toEqual({ access: 'full', accessNeeds: 'sandbox' });
    expect(inheritedAccess('full', parent, true)).toEqual({ access: 'full', accessNeeds: null });
    expect(inheritedAccess('ask', parent, false)).toEqual({ access: 'ask', accessNeeds: null });
  });

  test('the request comes before the definition, that before the home [7.16]', () => {
    const definition = { id: 'worker', access: 'ask' as const, sources: own };
    expect(levelOf(question({ home: 'read-only' }))).toBe('read-only');
    expect(levelOf(question({ home: 'read-only', definition }))).toBe('ask');
    expect(levelOf(question({ home: 'read-only', definition, asked: 'full' }))).toBe('full');
  });

  test('files of a repository narrow and never widen [7.16]', () => {
    expect(levelOf(question({ project: 'ask' }))).toBe('ask');
    expect(levelOf(question({ project: 'full', home: 'ask' }))).toBe('ask');
    const wide = { id: 'worker', access: 'full' as const, sources: [...own, ...foreign] };
    expect(levelOf(question({ definition: wide, home: 'ask' }))).toBe('ask');
    const narrow = { id: 'worker', access: 'read-only' as const, sources: foreign };
    expect(levelOf(question({ definition: narrow }))).toBe('read-only');
  });

  test('no child is wider than its parent', () => {
    const parent = { alias: 'owl', access: 'ask' as const, accessNeeds: null };
    expect(levelOf(question({ parent }))).toBe('ask');
    expect(() => chooseAccess(question({ parent, asked: 'full' }))).toThrow(/full is wider.*owl has ask/);
    expect(inheritedAccess(undefined, parent, true).access).toBe('ask');
    expect(inheritedAccess('read-only', parent, true).access).toBe('read-only');
    expect(() => inheritedAccess('full', parent, true)).toThrow(/owl has ask/);
  });

  test('an agent cannot widen what the definition says, and a person can', () => {
    const definition = { id: 'finder', access: 'read-only' as const, sources: own };
    expect(levelOf(question({ definition, asked: 'full' }))).toBe('full');
    expect(() => chooseAccess(question({ definition, asked: 'ask', byPerson: false }))).toThrow(/finder has read-only/);
  });

  test('the narrower of two levels', () => {
    expect(narrower('full', 'ask')).toBe('ask');
    expect(narrower('read-only', 'full')).toBe('read-only');
    expect(narrower('ask', null)).toBe('ask');
  });
});
