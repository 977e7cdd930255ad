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
    parent: { alias: 'root', access: 'full' },
    byPerson: true,
    ...given,
  };
}

describe('the access of a new agent', () => {
  test('by default it is full, and ask where the sandbox does not work', () => {
    expect(chooseAccess(question())).toBe('full');
    expect(chooseAccess(question({ sandboxWorks: true }))).toBe('full');
    expect(chooseAccess(question({ sandboxWorks: false }))).toBe('ask');
    expect(defaultAccess('off')).toBe('full');
  });

  test('the request comes before the definition, that before the home [7.16]', () => {
    const definition = { id: 'worker', access: 'ask' as const, sources: own };
    expect(chooseAccess(question({ home: 'read-only' }))).toBe('read-only');
    expect(chooseAccess(question({ home: 'read-only', definition }))).toBe('ask');
    expect(chooseAccess(question({ home: 'read-only', definition, asked: 'full' }))).toBe('full');
  });

  test('files of a repository narrow and never widen [7.16]', () => {
    expect(chooseAccess(question({ project: 'ask' }))).toBe('ask');
    expect(chooseAccess(question({ project: 'full', home: 'ask' }))).toBe('ask');
    const wide = { id: 'worker', access: 'full' as const, sources: [...own, ...foreign] };
    expect(chooseAccess(question({ definition: wide, home: 'ask' }))).toBe('ask');
    const narrow = { id: 'worker', access: 'read-only' as const, sources: foreign };
    expect(chooseAccess(question({ definition: narrow }))).toBe('read-only');
  });

  test('no child is wider than its parent', () => {
    const parent = { alias: 'owl', access: 'ask' as const };
    expect(chooseAccess(question({ parent }))).toBe('ask');
    expect(() => chooseAccess(question({ parent, asked: 'full' }))).toThrow(/full is wider.*owl has ask/);
    expect(inheritedAccess(undefined, parent)).toBe('ask');
    expect(inheritedAccess('read-only', parent)).toBe('read-only');
    expect(() => inheritedAccess('full', parent)).toThrow(/owl has ask/);
  });

  test('an agent cannot widen what the definition says, and a person can', () => {
    const definition = { id: 'finder', access: 'read-only' as const, sources: own };
    expect(chooseAccess(question({ definition, asked: 'full' }))).toBe('full');
    expect(() => chooseAccess(question({ definition, asked: 'ask', byPerson: false }))).toThrow(/finder has read-only/);
  });

  test('the narrower of two levels', () => {
    expect(narrower('full', 'ask')).toBe('ask');
    expect(narrower('read-only', 'full')).toBe('read-only');
    expect(narrower('ask', null)).toBe('ask');
  });
});
