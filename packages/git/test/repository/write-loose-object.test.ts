import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeCommit } from '../../src/repository/commit-object.ts';
import { commitSubject } from '../../src/repository/commit-subject.ts';
import { ensureOwnDirectory } from '../../src/merge/own-directory.ts';
import { openRepository } from '../../src/repository/repository.ts';
import { writeLooseObject } from '../../src/repository/write-loose-object.ts';
import { git, makeRepository, temporaryDirectory } from '../fixture.ts';

test('an object is stored as git stores it, once', async () => {
  const root = makeRepository(join(temporaryDirectory(), 'project'));
  const objects = join(root, '.git', 'objects');
  const content = Buffer.from('of ours, with ü\n');
  const ids = await Promise.all([1, 2, 3].map(() => writeLooseObject(objects, { type: 'blob', content }, 'sha1')));
  const [id = ''] = ids;
  expect(new Set(ids).size).toBe(1);
  expect(git(root, 'cat-file', '-p', id)).toBe(content.toString());
  expect(git(root, 'fsck', '--strict', '--unreachable')).toContain(id);
  expect(readdirSync(join(objects, id.slice(0, 2)))).toEqual([id.slice(2)]);
  expect(statSync(join(objects, id.slice(0, 2), id.slice(2))).mode & 0o777).toBe(0o444);
});

test.each([
  ['one line', 'fix: it\n', 'fix: it'],
  ['several lines', 'fix: it\nand more\n\nthe body\n', 'fix: it and more'],
  ['blank lines first', '\n\n  fix: it  \n', 'fix: it'],
  ['nothing', '\n', ''],
])('the subject of a commit with %s is the one that git shows', async (_, message, subject) => {
  const place = temporaryDirectory();
  const root = makeRepository(join(place, 'project'));
  const repository = await openRepository(root);
  const ownDir = join(place, 'own.git');
  await ensureOwnDirectory(repository, ownDir);
  const tree = git(root, 'rev-parse', 'HEAD^{tree}').trim();
  const parents = [git(root, 'rev-parse', 'HEAD').trim()];
  const commit = await writeCommit(repository, ownDir, { tree, parents, message, atMs: 1_000 });
  expect(await commitSubject(repository, ownDir, commit)).toBe(subject);
  writeFileSync(join(ownDir, 'objects', 'info', 'alternates'), join(root, '.git', 'objects'));
  expect(git(ownDir, 'log', '-1', '--format=%s', commit).trim()).toBe(subject);
});
