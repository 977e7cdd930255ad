import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { agentCommandPage, commandPage } from '../scripts/command-docs.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = [
  ...readdirSync(root),
  ...readdirSync(join(root, 'docs'), { recursive: true }).map((name) => `docs/${String(name)}`),
].filter((name) => name.endsWith('.md'));

/** A page without what the formatter makes of it. */
const squeeze = (text: string) =>
  text
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/\| -+ /g, '| - ')
    .replaceAll(/\n+/g, '\n')
    .trim();

test('docs/commands.md says what the command table says', () => {
  expect(squeeze(read('docs/commands.md'))).toBe(squeeze(commandPage()));
});

test('S4-21: what agents are told of the commands is what the command table says', () => {
  const list = read('packages/daemon/prompts/cli.md');
  expect(squeeze(list), 'run `node scripts/command-docs.ts`').toBe(squeeze(agentCommandPage()));
  for (const name of ['ps', 'fork', 'history', 'mark', 'gate', 'id']) expect(list).toContain(`- \`pawl ${name}`);
  for (const name of ['kill', 'trust', 'down', 'doctor', 'stop']) expect(list).not.toContain(`pawl ${name}`);
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
  const named = [...read('docs/requirements.md').matchAll(/`((?:packages|test)\/[^`]+)`/g)].map(
    (match) => match[1] ?? '',
  );
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('S1-01, S1-29, S1-30: the process model has its page, and every verb on it is a command', () => {
  const page = read('docs/process-model.md');
  const commands = [...read('docs/commands.md').matchAll(/^#{2,3} pawl (\S+)/gm)].map((match) => match[1]);
  const verbs = [...page.matchAll(/`pawl ([a-z-]+)/g)].map((match) => match[1]);
  expect(new Set(verbs).size).toBeGreaterThan(6);
  expect(verbs.filter((verb) => !commands.includes(verb))).toEqual([]);
  for (const heading of ['Fork', 'Signals', 'History', 'Restart', 'Worktrees of the dead']) {
    expect(page).toContain(`## ${heading}`);
  }
});

test('docs/requirements.md tells of every row of the process model, and of the definitions', () => {
  const page = read('docs/requirements.md');
  const rows = Array.from({ length: 33 }, (_, index) => `S1-${String(index + 1).padStart(2, '0')}`).concat(
    'S2-01 S2-02 S2-03 S2-04 S2-05 S2-06 S2-16 S2-17 W2-01 W2-02 W2-03 4.2.8 4.2.9 4.2.10'.split(' '),
  );
  expect(rows.filter((row) => !page.includes(row))).toEqual([]);
});
