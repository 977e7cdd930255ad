import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anchorPattern, keepAnchorsOut } from '../../src/anchor/exclude.ts';

test('git ignores anchors, and one line is added once [section 0]', async () => {
  await using place = await temporaryDirectory();
  await sampleRepository(place.path);
  const exclude = join(place.path, '.git/info/exclude');
  writeFileSync(exclude, '*.tmp');
  expect([keepAnchorsOut(place.path), keepAnchorsOut(place.path)]).toEqual([true, true]);
  expect(readFileSync(exclude, 'utf8')).toBe(`*.tmp\n${anchorPattern}\n`);
  mkdirSync(join(place.path, '.pawl/session-context.d'), { recursive: true });
  writeFileSync(join(place.path, '.pawl/session-context.md'), 'x');
  writeFileSync(join(place.path, '.pawl/session-context.d/helper-ab12.md'), 'x');
  expect(await git(place.path, ['status', '--short'])).toBe('');
});

test('a missing file or directory is created; without a repository there is nothing to do', async () => {
  await using place = await temporaryDirectory();
  expect(keepAnchorsOut(place.path)).toBe(true);
  mkdirSync(join(place.path, '.git'));
  expect(keepAnchorsOut(place.path)).toBe(true);
  expect(readFileSync(join(place.path, '.git/info/exclude'), 'utf8')).toBe(`${anchorPattern}\n`);
});

test('anything but a plain file in a plain repository is left alone', async () => {
  await using place = await temporaryDirectory();
  const [root, other] = [join(place.path, 'proj'), join(place.path, 'other')];
  mkdirSync(join(root, '.git/info'), { recursive: true });
  writeFileSync(other, '');
  symlinkSync(other, join(root, '.git/info/exclude'));
  expect(keepAnchorsOut(root)).toBe(false);
  rmSync(join(root, '.git/info'), { recursive: true });
  symlinkSync(place.path, join(root, '.git/info'));
  expect(keepAnchorsOut(root)).toBe(false);
  rmSync(join(root, '.git'), { recursive: true });
  writeFileSync(join(root, '.git'), 'gitdir: ../elsewhere\n');
  expect(keepAnchorsOut(root)).toBe(false);
  expect(readFileSync(other, 'utf8')).toBe('');
});
