import { expect, test } from 'vitest';
import type { Side } from '../../src/queue/foresight.ts';
import { conflictWords, fileList, pairsThatMeet } from '../../src/queue/foresight.ts';

const side = (branch: string, files: string[] | null, fields: Partial<Side> = {}): Side => ({
  branch,
  tip: `tip of ${branch}`,
  agentId: branch,
  purpose: 'a task',
  files: files === null ? null : new Set(files),
  ...fields,
});

const meet = (...sides: Side[]) => pairsThatMeet(sides).map(([one, other]) => `${one.branch} ${other.branch}`);

test('only branches with a common file are compared, in a stable order', () => {
  const [a, b, c] = [side('a', ['x', 'y']), side('b', ['y']), side('c', ['z'])];
  expect(meet(a, b, c)).toEqual(['a b']);
  expect(meet(c, b, a)).toEqual(['a b']);
});

test('a branch with too many files to list is compared with every other', () => {
  expect(meet(side('a', null), side('b', ['y']), side('c', null), side('d', []))).toEqual(['a b', 'a c', 'b c']);
});

test('two branches of one author, and two names of one commit, are not compared', () => {
  expect(meet(side('a', ['x'], { agentId: 'me' }), side('b', ['x'], { agentId: 'me' }))).toEqual([]);
  expect(meet(side('a', ['x'], { tip: 'same' }), side('b', ['x'], { tip: 'same' }))).toEqual([]);
  expect(meet(side('a', ['x'], { agentId: null }), side('b', ['x'], { agentId: null }))).toEqual(['a b']);
});

test('file names are separate lines, sanitised and limited', () => {
  expect(fileList(['a\n- b', '\u001b[31mred'])).toBe('- a - b\n- red');
  const many = fileList(Array.from({ length: 30 }, (_, index) => `file-${index}`));
  expect(many.split('\n')).toHaveLength(21);
  expect(many).toMatch(/- and 10 more$/);
});

test('both authors learn who works on the other branch, and why', () => {
  const words = conflictWords({ branch: 'work/me' }, { ...side('work/it', []), alias: 'old-owl' }, ['a.ts']);
  expect(words).toContain('work/it, which old-owl works on (a task)');
  expect(words).toContain('`pawl send`');
  expect(conflictWords({ branch: 'm' }, { ...side('it', []), purpose: '', alias: null }, ['a'])).toContain(
    'it, which a person works on, do not',
  );
});
