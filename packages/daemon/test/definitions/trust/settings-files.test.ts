import { temporaryDirectory } from '@pawl/testing/temporary';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { covers } from '../../../src/definitions/trust/path-shape.ts';
import { findSettings } from '../../../src/definitions/trust/settings-files.ts';
import { trustLimits } from '../../../src/definitions/trust/trust-limit.ts';

async function aTree(files: Record<string, string>) {
  const directory = await temporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory.path, name)), { recursive: true });
    writeFileSync(join(directory.path, name), text);
  }
  return directory;
}

const found = async (root: string, ...paths: string[]) =>
  (await findSettings(root, paths)).map(({ path, reason }) => (reason === null ? path : `${path}: ${reason}`));

test('finds files, whole directories and patterns, each once, and nothing else [8.43]', async () => {
  await using tree = await aTree({
    '.claude/settings.json': '{}',
    '.claude/settings.local.json': '{}',
    '.claude/agents/a.md': 'a',
    '.opencode/plugin/deep/x.ts': 'x',
    '.opencode/y.json': 'y',
    'opencode.jsonc': '{}',
    'notopencode.json': '{}',
    'src/opencode.json': '{}',
  });
  const look = (...paths: string[]) => found(tree.path, ...paths);
  expect(await look('.claude/settings.json', './.claude//settings.json', '.mcp.json')).toEqual([
    '.claude/settings.json',
  ]);
  expect(await look('.claude/settings*.json')).toEqual(['.claude/settings.json', '.claude/settings.local.json']);
  const plugins = ['.opencode/plugin/deep/x.ts', '.opencode/y.json'];
  expect(await look('.opencode')).toEqual(plugins);
  expect(await look('.opencode/**', '.opencode/')).toEqual(plugins);
  expect(await look('opencode.json*')).toEqual(['opencode.jsonc']);
  expect(await look('*/settings.json')).toEqual(['.claude/settings.json']);
  expect(await look('../*', '/etc/../..', '', '.')).toEqual([]);
  expect(await found(join(tree.path, 'gone'), '.claude/settings.json', '*')).toEqual([]);
});

test('a file is identified by its content', async () => {
  await using tree = await aTree({ '.mcp.json': '{"a":1}' });
  const [file] = await findSettings(tree.path, ['.mcp.json']);
  expect(file?.content?.sha256).toBe(createHash('sha256').update('{"a":1}').digest('hex'));
});

test('a link is never followed and cannot be trusted; a dangling one is ignored [8.43]', async () => {
  await using elsewhere = await aTree({ 'settings.json': '{}', 'hooks/a.sh': 'x' });
  await using tree = await aTree({ '.pi/own.json': '{}' });
  const link = (target: string, name: string) => symlinkSync(target, join(tree.path, name));
  link(elsewhere.path, '.claude');
  link(join(elsewhere.path, 'settings.json'), '.mcp.json');
  link(join(elsewhere.path, 'hooks'), '.pi/hooks');
  link('nowhere', '.env');
  link('.loop', '.loop');
  expect(await found(tree.path, '.claude/settings.json', '.mcp.json', '.pi', '.env', '.loop')).toEqual([
    '.claude: is a link',
    '.mcp.json: is a link',
    '.pi/hooks: is a link',
    '.pi/own.json',
  ]);
  expect(await found(tree.path, '.claude/other.json', '.claude/other/*.json')).toEqual([]);
  expect(await found(tree.path, '.claude/*.json')).toEqual(['.claude: is a link']);
});

test('a file that is not plain, too large, too many or too deep cannot be judged', async () => {
  await using tree = await aTree({ 'large.json': 'x'.repeat(300 * 1024), 'small.json': '{}' });
  execFileSync('mkfifo', [join(tree.path, 'pipe.json')]);
  mkdirSync(join(tree.path, 'many'));
  for (let index = 0; index <= trustLimits.files; index += 1) writeFileSync(join(tree.path, 'many', `${index}`), '');
  mkdirSync(join(tree.path, 'deep', ...Array.from({ length: trustLimits.depth + 2 }, () => 'd')), { recursive: true });
  expect(await found(tree.path, 'large.json', 'pipe.json', 'small.json')).toEqual([
    expect.stringMatching(/^large\.json: has more than/),
    'pipe.json: is not a regular file',
    'small.json',
  ]);
  expect(await found(tree.path, 'many')).toContain('many: has too many files');
  expect(await found(tree.path, 'deep')).toEqual(['deep: has too many files']);
});

test.each([
  ['.claude/settings.json', '.claude/settings.json', true],
  ['.claude/settings.json', '.claude/settings.local.json', false],
  ['.claude/settings.json', '.claude', true],
  ['.opencode', '.opencode/plugin/x.ts', true],
  ['.opencode/**', '.opencode/plugin/x.ts', true],
  ['opencode.json*', 'opencode.jsonc', true],
  ['opencode.json*', 'xopencode.json', false],
  ['a+b', 'aab', false],
  ['', 'a', false],
])('%s matches %s: %s', (path, file, is) => {
  expect(covers(path, file)).toBe(is);
});
