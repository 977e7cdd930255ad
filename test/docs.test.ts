import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { commandPage } from '../scripts/command-docs.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = [
  ...readdirSync(root),
  ...readdirSync(join(root, 'docs'), { recursive: true }).map((name) => `docs/${String(name)}`),
].filter((name) => name.endsWith('.md'));

test('docs/commands.md says what the command table says', () => {
  const squeeze = (text: string) =>
    text
      .replaceAll(/[ \t]+/g, ' ')
      .replaceAll(/\| -+ /g, '| - ')
      .replaceAll(/\n+/g, '\n')
      .trim();
  expect(squeeze(read('docs/commands.md'))).toBe(squeeze(commandPage()));
});

test.each(pages)('%s links to pages that exist', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1] ?? '');
  expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
});

test('the README’s commands are scripts of this project or commands of pawl', () => {
  const blocks = [...read('README.md').matchAll(/```sh\n([^]*?)```/g)].map((match) => match[1] ?? '');
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const commands = [...read('docs/commands.md').matchAll(/^## pawl (\S+)/gm)].map((match) => match[1]);
  for (const line of blocks.join('\n').split('\n').filter(Boolean)) {
    const [program, first, second] = line.split(/\s+/);
    if (program === 'npm' && first === 'run') expect(Object.keys(scripts)).toContain(second);
    if (program === 'pawl') expect(commands).toContain(first);
  }
});

test('the places in ARCHITECTURE.md’s code map exist, and every package is in it', () => {
  const map = read('ARCHITECTURE.md');
  const places = [...map.matchAll(/`((?:packages|scripts|test)\/[^`*{]+)`/g)].map((match) => match[1] ?? '');
  expect(places.filter((place) => !existsSync(join(root, place)))).toEqual([]);
  for (const name of readdirSync(join(root, 'packages'))) expect(map).toContain(`\`packages/${name}`);
});

test('every test that docs/requirements.md names exists', () => {
  const named = [...read('docs/requirements.md').matchAll(/`(packages\/[^`]+)`/g)].map((match) => match[1] ?? '');
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
