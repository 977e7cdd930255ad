import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listTrash } from '../../src/trash/trash-list.ts';
import { temporaryDirectory, write } from '../fixture.ts';

const note = { version: 1, path: '/x', branch: 'work/x', head: 'work/x', repository: '/r' };

test('lists the trash, including old notes and broken entries, and never fails [7.11]', async () => {
  const trashDir = join(temporaryDirectory(), 'trash');
  expect(await listTrash(trashDir)).toEqual([]);
  const commit = '1'.repeat(40);
  write(trashDir, {
    'new/note.json': JSON.stringify({ ...note, name: 'new', commit, dirty: 2, at: 2 }),
    'new/files/a': '12345',
    'old/note.json': JSON.stringify({ ...note, name: 'old', at: 1 }),
    'other-name/note.json': JSON.stringify({ ...note, name: 'new', at: 1 }),
    'no-note/files/a': 'a',
    'broken/note.json': '{',
    'hostile/note.json': JSON.stringify({ ...note, name: '../../etc', at: 1 }),
    'huge/note.json': `"${'x'.repeat(100_000)}"`,
    '.draft-123/note.json': JSON.stringify({ ...note, name: 'draft', at: 1 }),
    'odd name/note.json': '{}',
    'plain-file': '',
  });
  mkdirSync(join(trashDir, 'link'));
  symlinkSync('/etc/passwd', join(trashDir, 'link', 'note.json'));
  symlinkSync('/etc', join(trashDir, 'directory-link'));
  const entries = await listTrash(trashDir, { sizes: true });
  expect(entries.map(({ name, note: found }) => [name, found?.commit, found?.dirty])).toEqual([
    ['old', null, null],
    ['new', commit, 2],
    ['broken', undefined, undefined],
    ['hostile', undefined, undefined],
    ['huge', undefined, undefined],
    ['link', undefined, undefined],
    ['no-note', undefined, undefined],
    ['other-name', undefined, undefined],
  ]);
  expect(entries[6]).toEqual({ name: 'no-note', entry: join(trashDir, 'no-note'), note: null, bytes: 1 });
  expect((await listTrash(trashDir))[0]).not.toHaveProperty('bytes');
  writeFileSync(join(trashDir, 'new/files/b'), '1');
  const [, changed] = await listTrash(trashDir, { sizes: true });
  expect(Number(changed?.bytes) - Number(entries[1]?.bytes)).toBe(1);
});
