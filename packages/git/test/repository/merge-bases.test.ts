import { expect, test } from 'vitest';
import { mergeBase } from '../../src/repository/change-diff.ts';
import { mergeBases } from '../../src/repository/merge-bases.ts';
import { commitAll, git, recordGit, write } from '../fixture.ts';
import { queuePlace } from '../queueing.ts';

test("merge bases of all branches come from one command, and match git's", async () => {
  const { main, root, repository, ownDir, branch } = await queuePlace();
  const newer = branch(main, { 'n.txt': 'n\n' }, { 'o.txt': 'o\n' });
  const plain = branch(main, { 'p.txt': 'p\n' }, { 'q.txt': 'q\n' });
  const late = branch(newer, { 'l.txt': 'l\n' });
  git(root, 'checkout', '--quiet', '--orphan', 'strange');
  write(root, { 's.txt': 's\n' });
  const strange = commitAll(root, 'strange');
  git(root, 'checkout', '--quiet', '--detach', plain);
  git(root, 'merge', '--quiet', '--no-edit', '--allow-unrelated-histories', strange);
  const joined = git(root, 'rev-parse', 'HEAD').trim();
  const tips = [main, newer, plain, late, strange, joined];
  await mergeBases(repository, { ownDir, main: newer, tips: [] });
  await mergeBases(repository, { ownDir, main: newer, tips: [main] });
  const commands = recordGit();
  const found = await mergeBases(repository, { ownDir, main: newer, tips });
  expect(commands()).toHaveLength(1);
  expect([...found]).toEqual([
    [main, main],
    [newer, newer],
    [plain, main],
    [late, newer],
    [strange, null],
    [joined, main],
  ]);
});

test('for a branch that merged main again, the last time counts', async () => {
  const { main, root, repository, ownDir, branch } = await queuePlace();
  const newer = branch(main, { 'n.txt': 'n\n' });
  git(root, 'checkout', '--quiet', '--detach', branch(main, { 'p.txt': 'p\n' }));
  git(root, 'merge', '--quiet', '--no-edit', newer);
  const tip = git(root, 'rev-parse', 'HEAD').trim();
  const onto = branch(newer, { 'x.txt': 'x\n' });
  expect(await mergeBases(repository, { ownDir, main: onto, tips: [tip] })).toEqual(new Map([[tip, newer]]));
  expect(await mergeBase(repository, ownDir, onto, tip)).toBe(newer);
});
