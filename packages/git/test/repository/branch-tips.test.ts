import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { branchTips, hasRemoteBranches } from '../../src/repository/branch-tips.ts';
import { git, refusal } from '../fixture.ts';
import { errandPlace } from '../merging.ts';

test('branches are listed with one command, without those below a name, even if an object is missing', async () => {
  const { repository, root, base, work } = await errandPlace();
  const tip = work({ 'x.txt': 'x' });
  git(root, 'branch', 'side/one');
  writeFileSync(join(root, '.git/refs/heads/lost'), `${'d'.repeat(40)}\n`);
  expect(await branchTips(repository, ['main', 'work/otter', 'side', 'gone', 'lost'])).toEqual(
    new Map([
      ['main', base],
      ['work/otter', tip],
      ['lost', 'd'.repeat(40)],
    ]),
  );
  expect(await branchTips(repository, [])).toEqual(new Map());
  expect(await refusal(branchTips(repository, ['--exec=x']))).toMatch(/^invalid_input: /);
});

test('a repository without remote branches knows none', async () => {
  const { repository, root } = await errandPlace();
  expect(await hasRemoteBranches(repository)).toBe(false);
  git(root, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
  expect(await hasRemoteBranches(repository)).toBe(true);
});
