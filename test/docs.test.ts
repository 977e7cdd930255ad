import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { capabilitiesOf } from '@pawl/providers/capability';
import { parseConfigFile } from '@pawl/daemon/project-config/config-file';
import { builtInPresets } from '@pawl/providers/preset/built-in';
import { homeConfigSchema } from '@pawl/schema/home-config';
import { changeStates } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import { agentCommandPage, commandPage } from '../scripts/command-docs.ts';
import { doorMarks, doorTables } from '../scripts/door-docs.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = [
  ...readdirSync(root),
  ...readdirSync(join(root, 'docs'), { recursive: true }).map((name) => `docs/${String(name)}`),
].filter((name) => name.endsWith('.md'));

/** A page without the formatter's changes. */
const squeeze = (text: string) =>
  text
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/\| -+ /g, '| - ')
    .replaceAll(/\n+/g, '\n')
    .trim();

test('docs/commands.md matches the command table [S3-89]', () => {
  expect(squeeze(read('docs/commands.md'))).toBe(squeeze(commandPage()));
});

test('the pages document every key of config.yaml [S3-89]', () => {
  const documented = pages.map(read).join('\n');
  const keys = Object.keys(homeConfigSchema.shape);
  expect(keys.length).toBeGreaterThan(10);
  expect(keys.filter((key) => !new RegExp(`\\b${key}\\b`).test(documented))).toEqual([]);
});

test('the command list in the prompts matches the command table [S4-21]', () => {
  const list = read('packages/daemon/prompts/cli.md');
  expect(squeeze(list), 'run `node scripts/command-docs.ts`').toBe(squeeze(agentCommandPage()));
  for (const name of ['ps', 'fork', 'history', 'mark', 'gate', 'id']) expect(list).toContain(`- \`pawl ${name}`);
  const peoples = ['kill', 'trust', 'down', 'doctor', 'stop', 'change fix', 'queue allow-push', 'queue forbid-push'];
  for (const name of peoples) expect(list).not.toContain(`pawl ${name}`);
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

test('continuous integration runs the README’s commands', () => {
  const [first = ''] = /```sh\n([^]*?)```/.exec(read('README.md')) ?? [];
  const commands = [...first.matchAll(/^npm [^#\n]+/gm)].map(([command]) => command.trim());
  expect(commands.length).toBeGreaterThan(1);
  const workflow = read('.github/workflows/ci.yml');
  for (const command of commands) expect(workflow).toContain(`- run: ${command}\n`);
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

test('the process model has its page, and every verb on it is a command [S1-01, S1-29]', () => {
  const page = read('docs/process-model.md');
  const commands = [...read('docs/commands.md').matchAll(/^#{2,3} pawl (\S+)/gm)].map((match) => match[1]);
  const verbs = [...page.matchAll(/`pawl ([a-z-]+)/g)].map((match) => match[1]);
  expect(new Set(verbs).size).toBeGreaterThan(6);
  expect(verbs.filter((verb) => !commands.includes(verb))).toEqual([]);
  for (const heading of ['Fork', 'Signals', 'History', 'Restart', 'Worktrees of the dead']) {
    expect(page).toContain(`## ${heading}`);
  }
});

/** The rows from one number to another, such as S3-01 to S3-59. */
const rowsFrom = (family: string, first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => `${family}${String(first + index).padStart(2, '0')}`);

const processRows = [
  ...rowsFrom('S1-', 1, 33),
  ...'S2-01 S2-02 S2-03 S2-04 S2-05 S2-06 S2-16 S2-17 W2-01 W2-02 W2-03 4.2.8 4.2.9 4.2.10'.split(' '),
];
const providerRows = [
  ...rowsFrom('S3-', 1, 59),
  ...rowsFrom('S3-', 63, 75),
  ...rowsFrom('S3-', 83, 89),
  ...rowsFrom('W3-', 1, 11),
  ...Array.from({ length: 16 }, (_, index) => `5.2.${index + 1}`),
  ...rowsFrom('S4-', 19, 22),
  ...'W4-13 W4-14 7.9 7.10 7.11 7.12 7.13 7.15 7.19 7.20 7.22'.split(' '),
];

const talkRows = [
  ...rowsFrom('S0-', 1, 24),
  ...rowsFrom('W0-', 1, 10),
  ...Array.from({ length: 10 }, (_, index) => `2.2.${index + 1}`),
  ...rowsFrom('S3-', 60, 62),
  ...rowsFrom('S3-', 76, 82),
  ...rowsFrom('S4-', 15, 18),
  ...rowsFrom('S4-', 23, 28),
  ...rowsFrom('W1-', 19, 23),
  ...rowsFrom('S4-', 29, 31),
  ...'W0-11 W0-13 W4-01 W4-02 W4-04 W4-07 W4-11 W4-18 W4-20'.split(' '),
  ...'S1-07 S1-24 S1-25 S1-26 S1-27 S1-28 W2-16 7.5 7.6 7.7 7.21'.split(' '),
];

const ratchetRows = [...rowsFrom('S4-', 1, 14), ...'S4-23 W4-08 W4-09 W4-10 W4-14 W4-15 W4-19 7.18'.split(' ')];

test('the limits of the roster, and what a helper is, are documented for agents and people [S0-02, S0-11, S0-23]', () => {
  const page = read('docs/roster.md');
  const contract = read('packages/daemon/agents/helper-mode.md');
  for (const text of [page, contract]) expect(text).toContain('handed to a subagent');
  expect(page).toContain('say nothing special');
  expect(page).toContain('is the first thing that a session in a shared checkout does, before any pull');
  expect(page).toContain('Not seen: agents that are not processes of this machine, those started outside the project');
  expect(page).toContain('It keeps no state and needs no daemon');
  expect(contract).toMatch(/^name: helper-mode$/m);
});

/** The ids of rows in a text; `S3-35…38` is four of them. */
function rowsIn(text: string): Set<string> {
  const found = [...text.matchAll(/\b([SW]\d-)(\d\d)(?:…(\d\d))?|\b\d\.\d+(?:\.\d+)?/g)];
  return new Set(
    found.flatMap(([whole, family, first, last]) =>
      family === undefined ? [whole] : rowsFrom(family, Number(first), Number(last ?? first)),
    ),
  );
}

/** Which files prove each row, as docs/requirements.md says. */
function testsByRow(): Map<string, string[]> {
  const tests = new Map<string, string[]>();
  for (const [, ids = '', files = ''] of read('docs/requirements.md').matchAll(/^\| ([^|]+)\|[^|]*\|([^|]*)\|$/gm)) {
    const named = [...files.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
    for (const id of rowsIn(ids)) tests.set(id, [...(tests.get(id) ?? []), ...named]);
  }
  return tests;
}

test('docs/requirements.md has every row of the process model, the definitions, the providers, mail and the merge queue', () => {
  const tests = testsByRow();
  const rows = [...processRows, ...providerRows, ...talkRows, ...ratchetRows];
  expect(rows.filter((row) => !tests.has(row))).toEqual([]);
});

test('a row about providers, mail or the merge queue is named by a test that docs/requirements.md gives for it [S3-89]', () => {
  const tests = testsByRow();
  const named = (row: string) => (tests.get(row) ?? []).some((file) => rowsIn(read(file)).has(row));
  // Rows that the page says are missing or different.
  const without = ['S3-65'];
  expect([...providerRows, ...talkRows, ...ratchetRows].filter((row) => !named(row))).toEqual(without);
});

test('docs/ratchet.md has every state of a change, and a valid configuration with every key', async () => {
  const page = read('docs/ratchet.md');
  for (const state of changeStates) expect(page).toMatch(new RegExp(`^\\| \`${state}\` +\\|`, 'm'));
  const example = /```yaml\n([^]*?)```/.exec(page)?.[1] ?? '';
  const config = await parseConfigFile(example, 'the example');
  const keysAt = async (text: string) => {
    const wrong = await parseConfigFile(text, 'x').catch((error: unknown) => error);
    const hint = wrong instanceof PawlError ? (wrong.hint ?? '') : '';
    return /There are: ([^.(]+)/.exec(hint)?.[1]?.trim().split(', ') ?? [];
  };
  const queueKeys = await keysAt('queue: { nonsense: 1 }');
  expect(Object.keys(config.queue).toSorted()).toEqual(queueKeys.toSorted());
  const keys = [
    ...(await keysAt('nonsense: 1')).filter((key) => key !== 'queue'),
    ...queueKeys.map((key) => `queue.${key}`),
  ];
  expect(keys.length).toBeGreaterThan(14);
  for (const key of keys) expect(page, key).toContain(`| \`${key}\``);
});

test('every verb that the pages and the definitions name is a command [S4-06, S4-09]', () => {
  const commands = new Set(
    [...read('docs/commands.md').matchAll(/^#{2,3} pawl ([a-z -]+)$/gm)].map((match) => match[1]),
  );
  const agents = readdirSync(join(root, 'packages/daemon/agents')).map((name) => `packages/daemon/agents/${name}`);
  for (const page of ['docs/ratchet.md', 'README.md', ...agents]) {
    const verbs = [...read(page).matchAll(/pawl ((?:change|queue) [a-z-]+)/g)].map((match) => match[1] ?? '');
    expect(
      verbs.filter((verb) => !commands.has(verb)),
      page,
    ).toEqual([]);
  }
});

test('docs/definitions.md lists what each route requires of an agent, as core has it [S2-04, S2-17]', () => {
  const [begin, end] = doorMarks;
  const printed = read('docs/definitions.md').split(begin)[1]?.split(end)[0] ?? '';
  expect(squeeze(printed), 'run `node scripts/door-docs.ts`').toBe(squeeze(doorTables()));
});

test('the tables in docs/providers.md match the presets', () => {
  const cells = read('docs/providers.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const rowOf = (name: string, columns: number) =>
    cells.find((row) => row.length === columns && row[0]?.split(', ').includes(`\`${name}\``));
  const presets = builtInPresets({
    scriptedAgent: ['node'],
    bridge: ['node'],
    engine: ['node', 'e'],
    engineState: '/engine',
    scriptedState: '/s',
  });
  for (const preset of presets.filter(({ name }) => name !== 'scripted')) {
    const { resume, fork, liveFollowUps, mcp } = capabilitiesOf(preset);
    const [, ...shown] = rowOf(preset.name, 7) ?? [];
    const said = [shown[0] === 'yes', shown[1] === 'its own', shown[2] === 'yes', shown[3] === 'yes'];
    expect(said, preset.name).toEqual([resume, fork === 'native', liveFollowUps, mcp]);
    const { account } = preset;
    if (account === null) continue;
    const [, ...takes] = rowOf(preset.name, 6) ?? [];
    const variable = (value: string | null) => (value === null ? '–' : `\`${value}\``);
    expect(takes.slice(0, 3), preset.name).toEqual([account.key, account.token, account.directory].map(variable));
    expect(takes[4] === 'yes', preset.name).toBe(account.conversations.length > 0 || preset.handOver !== undefined);
  }
});
