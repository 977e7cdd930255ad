import { endurance } from '@pawl/testing/endurance';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openRepository, resolveCommit } from '../../src/repository/repository.ts';
import { pruneTrash } from '../../src/trash/prune.ts';
import { restoreWorktree } from '../../src/trash/restore.ts';
import { listTrash } from '../../src/trash/trash-list.ts';
import { trashWorktree } from '../../src/trash/trash.ts';
import { addWorktree } from '../../src/worktree/worktree.ts';
import { killAfter } from '../crash-process.ts';
import { commitAll, git, makeRepository, refusal, snapshot, temporaryDirectory, write } from '../fixture.ts';

async function setUp(prepare: (path: string, root: string) => void = () => {}) {
  const home = temporaryDirectory();
  const files = {
    'a.txt': 'a\n',
    'd/b.txt': 'b\n',
    '.gitignore': 'ignored/\n',
    '.gitattributes': '*.crlf text eol=crlf\n',
  };
  const root = makeRepository(join(home, 'project'), files);
  const repository = await openRepository(root);
  const base = await resolveCommit(repository);
  const path = join(home, 'trees', 'otter');
  await addWorktree(repository, { ownDir: join(home, 'own.git'), path, branch: 'work/otter', base });
  prepare(path, root);
  const files_ = snapshot(path, (name) => name === '.git' || name.startsWith('ignored'));
  const trashDir = join(home, 'trash');
  const trashed = await trashWorktree(repository, { path, branch: 'work/otter', trashDir, at: 1 });
  const name = trashed?.note.name ?? '';
  const request = { trashDir, name, archiveTo: join(home, 'archive') };
  const archived = () => (existsSync(request.archiveTo) ? readdirSync(request.archiveTo).sort() : []);
  return { home, root, repository, base, path, entry: trashed?.entry ?? '', request, archived, files: files_ };
}

/** Reads an archive back as its note says: with git alone. */
function readBack(archiveTo: string, name: string): string {
  const note = JSON.parse(readFileSync(join(archiveTo, `${name}.json`), 'utf8')) as { readme: string };
  const target = join(temporaryDirectory(), 'back');
  const [program, ...args] = note.readme.replace('<directory>', target).split(' ');
  expect(program).toBe('git');
  git(archiveTo, ...args);
  return target;
}

test('a clean entry is deleted without an archive, and its branch stays [7.11]', async () => {
  const { root, repository, base, request, archived } = await setUp((path) => write(path, { 'ignored/x': 'x' }));
  await pruneTrash(repository, request);
  expect(readdirSync(request.trashDir)).toEqual([]);
  expect(archived()).toEqual([]);
  expect(git(root, 'rev-parse', 'work/otter').trim()).toBe(base);
  await pruneTrash(repository, request);
});

test('uncommitted work is archived first, and can be read back with git alone [7.11]', async () => {
  const { repository, request, archived, files } = await setUp((path) => {
    write(path, { 'a.txt': 'staged\n' });
    git(path, 'add', 'a.txt');
    write(path, { 'a.txt': 'later\n', 'new/zoë.txt': 'new\n', 'mixed.crlf': 'one\r\ntwo\n' });
    symlinkSync('/etc/passwd', join(path, 'link'));
    rmSync(join(path, 'd/b.txt'));
  });
  await pruneTrash(repository, request);
  expect(archived()).toEqual([`${request.name}.bundle`, `${request.name}.json`]);
  expect(readdirSync(request.trashDir)).toEqual([]);
  expect(existsSync('/etc/passwd')).toBe(true);
  const back = readBack(request.archiveTo, request.name);
  git(back, 'config', 'core.attributesFile', '/dev/null');
  expect(git(back, 'show', 'HEAD:mixed.crlf')).toBe('one\r\ntwo\n');
  expect({ ...snapshot(back, (name) => name.startsWith('.git/')), 'mixed.crlf': '' }).toEqual({
    ...files,
    'mixed.crlf': '',
  });
  expect(git(back, 'show', 'origin/index:a.txt')).toBe('staged\n');
});

const worthKeeping: Record<string, (path: string, root: string) => void> = {
  'a staged change that the files do not have': (path) => {
    write(path, { 'a.txt': 'staged\n' });
    git(path, 'add', 'a.txt');
    write(path, { 'a.txt': 'a\n' });
  },
  'an untracked file': (path) => write(path, { 'new.txt': 'new\n' }),
  'a deleted file': (path) => rmSync(join(path, 'a.txt')),
};

test.each(Object.entries(worthKeeping))('%s is archived', async (_, prepare) => {
  const { repository, request, archived } = await setUp(prepare);
  await pruneTrash(repository, request);
  expect(archived()).toHaveLength(2);
  readBack(request.archiveTo, request.name);
});

describe('content that cannot be compared is archived', () => {
  test('without its repository', async () => {
    const { root, request, archived } = await setUp();
    rmSync(root, { recursive: true });
    await pruneTrash(null, request);
    expect(archived()).toHaveLength(2);
    expect(readFileSync(join(readBack(request.archiveTo, request.name), 'd/b.txt'), 'utf8')).toBe('b\n');
  });

  test('with a broken note and a broken index, ignored files too', async () => {
    const { repository, entry, request } = await setUp((path) => write(path, { 'ignored/x': 'x' }));
    writeFileSync(join(entry, 'note.json'), '{');
    writeFileSync(join(entry, 'registration/index'), 'garbage');
    await pruneTrash(repository, request);
    expect(readFileSync(join(readBack(request.archiveTo, request.name), 'ignored/x'), 'utf8')).toBe('x');
  });
});

test('commits of a detached HEAD stay, unless a branch has them', async () => {
  const loose = await setUp((path) => {
    git(path, 'checkout', '--quiet', '--detach');
    write(path, { 'a.txt': 'loose\n' });
    commitAll(path, 'loose');
  });
  await pruneTrash(loose.repository, loose.request);
  expect(git(loose.root, 'for-each-ref', 'refs/pawl')).not.toBe('');
  const known = await setUp((path) => void git(path, 'checkout', '--quiet', '--detach'));
  expect(git(known.root, 'for-each-ref', 'refs/pawl')).not.toBe('');
  await pruneTrash(known.repository, known.request);
  expect(git(known.root, 'for-each-ref', 'refs/pawl')).toBe('');
});

describe('refuses', () => {
  test('names that lead elsewhere, and links', async () => {
    const { home, repository, request } = await setUp();
    write(home, { 'precious/file': 'mine\n' });
    symlinkSync(join(home, 'precious'), join(request.trashDir, 'link'));
    expect(await refusal(pruneTrash(repository, { ...request, name: 'link' }))).toMatch(/^conflict: /);
    for (const name of ['..', '../precious', '.', '', 'a/b', '/etc', '.draft-1']) {
      expect(await refusal(pruneTrash(repository, { ...request, name }))).toMatch(/^invalid_input: /);
    }
    expect(existsSync(join(home, 'precious/file'))).toBe(true);
  });

  test('another repository inside, whose commits no archive would keep', async () => {
    const { repository, entry, request, archived } = await setUp((path) => void makeRepository(join(path, 'nested')));
    expect(await refusal(pruneTrash(repository, request))).toMatch(/^conflict: .*nested.* → .*Move it out/);
    expect(archived()).toEqual([]);
    expect(readdirSync(entry).sort()).toEqual(['dot-git', 'files', 'note.json', 'registration']);
    await restoreWorktree(repository, request);
  });

  test('an entry that is being restored, and an unusable archive directory', async () => {
    const { home, repository, entry, request } = await setUp((path) => write(path, { 'new.txt': 'new\n' }));
    write(home, { file: '' });
    await expect(pruneTrash(repository, { ...request, archiveTo: join(home, 'file') })).rejects.toThrow();
    expect(existsSync(join(entry, 'files/new.txt'))).toBe(true);
    writeFileSync(join(entry, 'restoring'), '');
    expect(await refusal(pruneTrash(repository, request))).toMatch(/^conflict: /);
    expect(existsSync(join(entry, 'files/new.txt'))).toBe(true);
  });
});

test('an interrupted deletion is finished', async () => {
  const { repository, entry, request } = await setUp();
  const doomed = join(request.trashDir, `.pruned-${request.name}`);
  renameSync(entry, doomed);
  expect(await listTrash(request.trashDir)).toEqual([]);
  await pruneTrash(repository, request);
  expect(readdirSync(request.trashDir)).toEqual([]);
});

test('killed at many moments: there is always an entry or an archive', async () => {
  const rounds = endurance({ whole: 4, small: 2 });
  for (let round = 0; round < rounds; round += 1) {
    const { root, repository, request, archived } = await setUp((path) => write(path, { 'new.txt': 'new\n' }));
    await killAfter((round * 100) / rounds, round % 2 === 0, { root, operation: 'pruneTrash', ...request });
    const isListed = (await listTrash(request.trashDir)).length === 1;
    expect(isListed || archived().length === 2).toBe(true);
    await pruneTrash(repository, request);
    expect(readdirSync(request.trashDir)).toEqual([]);
    expect(archived()).toEqual([`${request.name}.bundle`, `${request.name}.json`]);
    expect(readFileSync(join(readBack(request.archiveTo, request.name), 'new.txt'), 'utf8')).toBe('new\n');
  }
});
