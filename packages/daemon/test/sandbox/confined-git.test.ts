import { addWorktree } from '@pawl/git/worktree/worktree';
import { confinedGit, confineWorktree } from '@pawl/git/confined/confined-worktree';
import { foldPrivateObjects } from '@pawl/git/confined/private-objects';
import type { Repository } from '@pawl/git/repository/repository';
import { branchTip, openRepository } from '@pawl/git/repository/repository';
import { bubblewrap } from '@pawl/sandbox/bubblewrap';
import { runBriefly } from '@pawl/sandbox/run-briefly';
import { noLimits } from '@pawl/schema/launch-spec';
import { git, isolatedGitEnvironment, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { expect } from 'vitest';
import { sandbox, sandboxTest } from './machine.ts';

/** A repository with a worktree for `otter`, and another one beside it. */
async function twoWorktrees(root: string) {
  const repository = await openRepository(await sampleAt(join(root, 'sample')));
  const base = await git(repository.root, ['rev-parse', 'HEAD']);
  const add = async (name: string) => {
    const path = join(root, 'worktrees', name);
    await addWorktree(repository, { ownDir: join(root, 'own.git'), path, branch: `work/${name}`, base });
    return path;
  };
  return { repository, base, worktree: await add('otter'), other: await add('badger') };
}

async function sampleAt(path: string): Promise<string> {
  await sampleRepository(path, { commits: 3 });
  await git(path, ['config', 'user.name', 'A']);
  await git(path, ['config', 'user.email', 'a@example.com']);
  await git(path, ['repack', '-adq']);
  await writeFile(join(path, 'loose.txt'), 'loose\n');
  await git(path, ['add', '.']);
  await git(path, ['commit', '-qm', 'loose objects']);
  return path;
}

/** Runs a script in the worktree, in a sandbox. */
async function confined(repository: Repository, worktree: string, script: string): Promise<string> {
  if (!sandbox.works) return '';
  const temporary = join(worktree, '..', 'tmp');
  await mkdir(temporary, { recursive: true });
  const name = 'otter';
  const environment = Object.fromEntries(
    Object.entries({ ...isolatedGitEnvironment(), ...confinedGit }).map(([key, value]) => [key, value ?? '']),
  );
  const launch = bubblewrap(sandbox.machine)({
    command: 'sh',
    arguments: ['-c', `exec 2>&1\n${script}`],
    environment,
    directories: { working: worktree, writable: [], readable: [repository.root] },
    limits: noLimits,
    sandbox: {
      temporary,
      mounts: await confineWorktree(repository, { path: worktree, branch: 'work/otter', name }),
      network: 'none',
      limits: { memoryBytes: null, processes: null, fileBytes: null },
    },
  });
  return (await runBriefly(launch)).output;
}

sandboxTest('an agent commits, amends, merges and branches, and everybody sees it at once', async () => {
  await using place = await temporaryDirectory();
  const { repository, worktree } = await twoWorktrees(place.path);
  const script = `set -e
    echo one >one; git add one; git commit -qm one; git commit -q --amend -m 'one, amended'
    git checkout -qb work/otter-side; echo two >two; git add two; git commit -qm two
    git checkout -q work/otter; echo three >three; git add three; git commit -qm three
    git merge -q --no-edit work/otter-side; git log --oneline >log; git diff --stat HEAD~1 >>log
    git status --porcelain; echo done`;
  expect(await confined(repository, worktree, script)).toBe('?? log\ndone\n');
  const seen = await git(repository.root, ['log', '--format=%s', 'work/otter']);
  expect(seen.split('\n')).toEqual(expect.arrayContaining(['one, amended', 'two', 'three']));
  const head = await branchTip(repository, 'work/otter');
  expect(head).toBe(await git(worktree, ['rev-parse', 'HEAD']));
  expect(await foldPrivateObjects(repository, 'otter')).toEqual({ refused: [] });
  expect(existsSync(join(repository.commonDir, 'objects/info/alternates'))).toBe(false);
  expect(existsSync(join(repository.commonDir, 'pawl/objects'))).toBe(false);
  await git(repository.root, ['fsck', '--strict', '--full']);
  expect(await git(worktree, ['status', '--porcelain'])).toBe('?? log');
  expect(await foldPrivateObjects(repository, 'otter')).toEqual({ refused: [] });
});

sandboxTest('an agent changes nothing else of the repository [sandbox files, faults 8.40]', async () => {
  await using place = await temporaryDirectory();
  const { repository, base, worktree, other } = await twoWorktrees(place.path);
  const main = await branchTip(repository, 'main');
  const config = readFileSync(join(repository.commonDir, 'config'), 'utf8');
  const common = repository.commonDir;
  const attempts = [
    `echo x >"${common}/hooks/pre-commit"`,
    `mkdir "${common}/hooks2"`,
    `echo x >>"${common}/config"`,
    'git config core.fsmonitor evil',
    `git update-ref refs/heads/main ${base}~1`,
    'git branch -f main HEAD~1',
    'git push -q . HEAD~1:main',
    `echo ${base} >"${common}/refs/heads/main"`,
    `rm -f "${common}/refs/heads/main"`,
    `echo x >"${other}/file"`,
    `echo x >"${common}/worktrees/badger/HEAD"`,
    'git tag evil',
    `rm "${common}"/pawl/shared/pack/*.pack`,
    `rm -r "${common}"/pawl/shared/??/*`,
    `cp /bin/sh "${common}/objects/pack/pack-x.pack"`,
    `echo / >"${common}/objects/info/alternates"`,
    `mv "${common}/objects/pack" "${common}/objects/old"`,
    'rm -f .git',
    'mv .git aside',
    'echo "gitdir: /elsewhere" >.git',
    `echo /elsewhere >"${common}/worktrees/otter/commondir"`,
    `mv "${common}/worktrees/otter/gitdir" "${common}/worktrees/otter/away"`,
  ];
  const script = attempts.map((attempt, index) => `(${attempt}) >/dev/null 2>&1 && echo ${index}`).join('\n');
  const worked = (await confined(repository, worktree, `${script}\ntrue`)).split('\n').filter((line) => line !== '');
  expect(worked.map((index) => attempts[Number(index)])).toEqual([]);
  expect(await branchTip(repository, 'main')).toBe(main);
  expect(readFileSync(join(common, 'config'), 'utf8')).toBe(config);
  expect(readdirSync(join(other))).not.toContain('file');
  await git(repository.root, ['fsck', '--strict', '--full']);
});

sandboxTest(
  'a forged object replaces none, is refused, and its links lead nowhere [sandbox files, faults 8.42]',
  async () => {
    await using place = await temporaryDirectory();
    const { repository, worktree } = await twoWorktrees(place.path);
    const known = await git(repository.root, ['rev-parse', 'main:loose.txt']);
    const packed = await git(repository.root, ['rev-parse', 'HEAD~1:README.md']);
    const forged = deflateSync(Buffer.from('blob 5\0evil\n'));
    await writeFile(join(worktree, 'forged'), forged);
    const objects = join(repository.commonDir, 'objects');
    const invented = `ab${'0'.repeat(38)}`;
    const plant = [known, packed, invented]
      .map((id) => `mkdir -p "${objects}/${id.slice(0, 2)}"; cp forged "${objects}/${id.slice(0, 2)}/${id.slice(2)}"`)
      .join('\n');
    const free = ['cd', 'ce', 'cf'].find((name) => !existsSync(join(objects, name))) ?? 'cd';
    const victim = known.slice(0, 2);
    await confined(repository, worktree, `${plant}\nln -s "${objects}/${victim}" "${objects}/${free}"; true`);
    expect(await git(repository.root, ['cat-file', 'blob', known])).toBe('loose');
    expect(await git(repository.root, ['cat-file', 'blob', packed])).toBe('# Sample');
    const { refused } = await foldPrivateObjects(repository, 'otter');
    expect(refused).toContain(invented);
    expect(await git(repository.root, ['cat-file', 'blob', known])).toBe('loose');
    expect(existsSync(join(objects, victim, known.slice(2)))).toBe(true);
  },
);
