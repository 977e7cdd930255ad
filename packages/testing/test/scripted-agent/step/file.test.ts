import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf, stage } from '../agent-process.ts';

test('write and append make directories and fill placeholders', async () => {
  await using on = await stage();
  const file = { path: 'deep/{agent}.txt', content: 'one {turns}\n' };
  const agent = await on.play([{ write: file }, { append: { ...file, content: 'two\n' } }]);
  expect(readFileSync(join(on.directory, 'deep/agent.txt'), 'utf8')).toBe('one 1\ntwo\n');
  expect(blocksOf(agent.lines, 'assistant').map((block) => block['name'])).toEqual(['Write', 'Edit']);
  expect(agent.toolResults.map((result) => result.is_error)).toEqual([false, false]);
});

test('paths that leave the working directory are refused, whichever way', async () => {
  await using on = await stage();
  const outside = join(on.path, 'outside');
  mkdirSync(outside);
  symlinkSync(outside, join(on.directory, 'link'));
  symlinkSync(join(outside, 'dangling'), join(on.directory, 'dangling'));
  writeFileSync(join(outside, 'target'), 'old');
  symlinkSync(join(outside, 'target'), join(on.directory, 'target'));
  const paths = [
    '../escaped',
    join(outside, 'x'),
    'a/../../escaped',
    'link/x',
    'link/new/x',
    'dangling',
    'dangling/x',
    'target',
    '..',
  ];
  const agent = await on.play(paths.map((path) => ({ write: { path, content: 'new' } })));
  expect(agent.code).toBe(0);
  expect(agent.toolResults.filter((result) => result.is_error && result.content.startsWith('Refused: '))).toHaveLength(
    paths.length,
  );
  expect(readdirSync(outside)).toEqual(['target']);
  expect(readFileSync(join(outside, 'target'), 'utf8')).toBe('old');
  expect(existsSync(join(on.path, 'escaped'))).toBe(false);
});

test('a file that cannot be written is a failed tool call', async () => {
  await using on = await stage();
  const agent = await on.play([
    { write: { path: '.', content: '' } },
    { write: { path: 'README.md/x', content: '' } },
    { say: 'on' },
  ]);
  expect(agent.toolResults.map((result) => result.is_error)).toEqual([true, true]);
  expect(agent.said).toEqual(['on']);
});

test('links inside the working directory may be written through', async () => {
  await using on = await stage();
  symlinkSync('README.md', join(on.directory, 'inside'));
  await on.play([{ write: { path: 'inside', content: 'through' } }]);
  expect(readFileSync(join(on.directory, 'README.md'), 'utf8')).toBe('through');
});
