import { chmodSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileAt } from '../../src/repository/change-diff.ts';
import { commitFiles } from '../../src/repository/commit-files.ts';
import { readCommit, readCommits } from '../../src/repository/commit-object.ts';
import { looseObject, looseTree, looseTreeOf } from '../../src/repository/loose-object.ts';
import { openRepository } from '../../src/repository/repository.ts';
import { commitAll, git, makeRepository, temporaryDirectory } from '../fixture.ts';

const bounds = { fileBytes: 1_000, totalBytes: 10_000 };

/** A repository with files of several kinds, whose objects all lie in files of their own. */
async function setUp() {
  const place = temporaryDirectory();
  const root = makeRepository(join(place, 'project'));
  git(root, 'config', 'core.quotePath', 'true');
  writeFileSync(join(root, 'a.txt'), 'a\n');
  writeFileSync(join(root, 'naïve file'), 'ü\n');
  writeFileSync(join(root, 'long.txt'), 'x'.repeat(2_000));
  symlinkSync('a.txt', join(root, 'link'));
  git(root, 'update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},module`);
  git(root, 'add', '--all', '--', 'a.txt', 'naïve file', 'long.txt', 'link');
  git(root, 'commit', '--quiet', '-m', 'files');
  const commit = git(root, 'rev-parse', 'HEAD').trim();
  return { root, commit, repository: await openRepository(root), ownDir: join(place, 'own.git') };
}

type Place = Awaited<ReturnType<typeof setUp>>;

/** Everything that is read of a commit, in one value. */
async function everything({ repository, ownDir, commit }: Place) {
  const files = await commitFiles(repository, ownDir, commit);
  const found = async (path: string) => {
    const { is, content } = await fileAt(repository, ownDir, commit, path, 1_000);
    return [is, content?.toString('utf8')];
  };
  return {
    commit: await readCommit(repository, ownDir, commit),
    commits: await readCommits(repository, ownDir, [commit, 'f'.repeat(40)]),
    ids: new Map(files.ids),
    links: new Set(files.links),
    texts: await files.read(['a.txt', 'naïve file', 'link', 'none', 'module'], bounds),
    long: [...(await files.read(['a.txt', 'long.txt'], bounds))],
    found: await Promise.all(['a.txt', 'naïve file', 'long.txt', 'link', 'module', 'none', 'a.txt/b'].map(found)),
  };
}

test('reading without git gives the same objects as git does once they are packed', async () => {
  const place = await setUp();
  const loose = await everything(place);
  git(place.root, 'repack', '-a', '-d', '--quiet');
  const objects = [join(place.root, '.git', 'objects')];
  expect(await looseObject(objects, place.commit, 1_000)).toBeNull();
  expect(await everything(place)).toEqual(loose);
  expect(loose.texts.get('naïve file')).toBe('ü\n');
  expect(loose.long).toEqual([['a.txt', 'a\n']]);
});

test('an object is found in the second directory, and not when it is damaged, too large, or another one', async () => {
  const { root, commit } = await setUp();
  const objects = join(root, '.git', 'objects');
  const path = (id: string) => join(objects, id.slice(0, 2), id.slice(2));
  expect((await looseObject([join(root, 'none'), objects], commit, 1_000))?.type).toBe('commit');
  expect(await looseObject([objects], commit, 10)).toBeNull();
  const { content } = (await looseObject([objects], commit, 1_000)) ?? { content: Buffer.alloc(0) };
  expect(await looseObject([objects], commit, content.length)).not.toBeNull();
  expect(await looseObject([objects], commit, content.length - 1)).toBeNull();
  expect(await looseObject([objects], 'HEAD', 1_000)).toBeNull();
  const tree = (await looseTreeOf([objects], commit, 1_000)) ?? '';
  expect((await looseTree([objects], tree, 1_000))?.map(({ name }) => name)).toContain('a.txt');
  expect(await looseTree([objects], commit, 1_000)).toBeNull();
  for (const bytes of [readFileSync(path(tree)), Buffer.from('nonsense'), Buffer.alloc(0)]) {
    chmodSync(path(commit), 0o644);
    writeFileSync(path(commit), bytes);
    expect(await looseObject([objects], commit, 10_000)).toBeNull();
  }
  rmSync(path(commit));
  expect(await looseObject([objects], commit, 1_000)).toBeNull();
});

test('longer ids are read, too', async () => {
  const root = join(temporaryDirectory(), 'project');
  git(temporaryDirectory(), 'init', '--quiet', '--initial-branch=main', '--object-format=sha256', root);
  writeFileSync(join(root, 'a.txt'), 'a');
  const commit = commitAll(root, 'first');
  const objects = [join(root, '.git', 'objects')];
  const entries = await looseTree(objects, (await looseTreeOf(objects, commit, 1_000)) ?? '', 1_000);
  expect(entries).toEqual([{ mode: '100644', name: 'a.txt', id: expect.stringMatching(/^[0-9a-f]{64}$/) as string }]);
});
