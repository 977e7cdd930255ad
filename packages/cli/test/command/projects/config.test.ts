import { homeAt } from '@pawl/protocol/node/home';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { getConfig, listConfig, setConfig, unsetConfig } from '../../../src/command/projects/config.ts';
import { createContext } from '../../../src/context.ts';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A home without a daemon, with this config file. */
async function aHome(text?: string) {
  const place = await temporaryDirectory();
  const home = homeAt(place.path);
  if (text !== undefined) writeFileSync(home.config, text);
  const printed: { kind: string; data: unknown }[] = [];
  const texts: string[] = [];
  const context = {
    ...createContext({ json: true }),
    home,
    answer(kind: string, data: unknown, words: () => string) {
      printed.push({ kind, data });
      texts.push(words());
    },
  };
  return { ...place, home, context, printed, texts, read: () => readFileSync(home.config, 'utf8') };
}

const commented = `# mine
port: 4100 # not the usual one

# who works
provider: codex
questions: {policy: park}
`;

test('set keeps comments and order, and says when it takes effect', async () => {
  await using place = await aHome(commented);
  await setConfig(place.context, 'provider', 'claude');
  await setConfig(place.context, 'questions.deadline_minutes', '30');
  expect(place.read()).toBe(
    commented.replace('codex', 'claude').replace('{policy: park}', '{ policy: park, deadline_minutes: 30 }'),
  );
  expect(place.printed[0]).toEqual({
    kind: 'config-value',
    data: { key: 'provider', value: 'claude', isSet: true, applies: 'next-start' },
  });
  expect(readdirSync(place.home.root)).toEqual(['config.yaml']);
});

test('a missing file and home are created, readable by their owner only', async () => {
  await using place = await aHome();
  await setConfig(place.context, 'switch_on_fork', 'true');
  expect(place.read()).toBe('switch_on_fork: true\n');
  expect(lstatSync(place.home.config).mode & 0o777).toBe(0o600);
});

test('unset removes a key, and empty parents', async () => {
  await using place = await aHome('budgets:\n  task: {usd: 5}\nprovider: codex\n');
  await unsetConfig(place.context, 'budgets.task.usd');
  expect(place.read()).toBe('provider: codex\n');
  await unsetConfig(place.context, 'provider');
  expect(place.read()).toBe('');
  await unsetConfig(place.context, 'provider');
  expect(place.printed.at(-1)?.data).toMatchObject({ key: 'provider', value: null, isSet: false });
  expect(place.texts.at(-1)).toBe('provider is not set; it applies when Pawl is started');
  await unsetConfig(place.context, 'questions.policy');
  expect(place.texts.at(-1)).toBe('questions.policy has its default: park; it applies when Pawl is started');
});

test.each([
  ['provder', 'claude', 'Did you mean provider?'],
  ['questions.polcy', 'park', 'Did you mean questions.policy?'],
  ['zzzz', '1', '`pawl config ls`'],
])('an unknown key %s is refused with the nearest one', async (key, value, hint) => {
  await using place = await aHome(commented);
  await expect(setConfig(place.context, key, value)).rejects.toMatchObject({
    code: 'invalid_input',
    hint: expect.stringContaining(hint) as string,
  });
  expect(place.read()).toBe(commented);
});

test.each([
  ['port', 'many'],
  ['port', '70000'],
  ['provider', '"no such name!"'],
  ['questions.policy', 'ignore'],
  ['questions.deadline_minutes', '-1'],
  ['nudges', 'sometimes'],
  ['switch_on_fork', 'perhaps'],
  ['max_sessions', '0'],
  ['rotate_accounts', 'claude'],
  ['budgets.agent.tokens', 'many'],
  ['timers.health_seconds', '0'],
  ['mcp_servers.docs', 'x'],
  ['trust_repository_settings', 'yes please'],
  ['questions', 'park'],
  ['provider', '[a'],
])('%s: %s is refused, and the file stays as it was', async (key, value) => {
  await using place = await aHome(commented);
  await expect(setConfig(place.context, key, value)).rejects.toMatchObject({ code: 'invalid_input' });
  expect(place.read()).toBe(commented);
  expect(readdirSync(place.home.root)).toEqual(['config.yaml']);
});

test('an invalid file is reported, and can be repaired', async () => {
  await using place = await aHome('portt: 1\nprovider: codex\n');
  await expect(listConfig(place.context)).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(setConfig(place.context, 'port', '0')).rejects.toThrow('portt');
  await unsetConfig(place.context, 'portt');
  expect(place.read()).toBe('provider: codex\n');
  writeFileSync(place.home.config, 'a: [');
  await expect(setConfig(place.context, 'port', '0')).rejects.toThrow('is not YAML');
});

test('ls lists every key with its value, and get one of them', async () => {
  await using place = await aHome(commented);
  await listConfig(place.context);
  const [listed] = place.printed as { data: { settings: { key: string; value: unknown; isSet: boolean }[] } }[];
  const settings = listed?.data.settings ?? [];
  expect(settings).toContainEqual({ key: 'provider', value: 'codex', isSet: true });
  expect(settings).toContainEqual({ key: 'switch_on_fork', value: false, isSet: false });
  expect(settings.map(({ key }) => key)).toEqual(
    expect.arrayContaining(['budgets.task.usd', 'timers.health_seconds', 'mcp_servers', 'questions.policy']),
  );
  await getConfig(place.context, 'questions.policy');
  expect(place.texts.at(-1)).toBe('park');
  await expect(getConfig(place.context, 'nothing')).rejects.toMatchObject({ code: 'invalid_input' });
});

test('a link to a file elsewhere stays a link', async () => {
  await using place = await aHome();
  const dotfiles = join(place.home.root, 'dotfiles');
  mkdirSync(dotfiles);
  writeFileSync(join(dotfiles, 'pawl.yaml'), 'port: 1\n');
  symlinkSync(join(dotfiles, 'pawl.yaml'), place.home.config);
  await setConfig(place.context, 'port', '2');
  expect(lstatSync(place.home.config).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(dotfiles, 'pawl.yaml'), 'utf8')).toBe('port: 2\n');
});

test('with a daemon, it says what takes effect at once and what needs a restart, and a provider must exist', async () => {
  const answer = { providers: [{ name: 'claude' }], problems: [] };
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json: false });
  await setConfig(daemon.context, 'provider', 'claude');
  expect(daemon.texts.at(-1)).toContain('from now on');
  await setConfig(daemon.context, 'port', '4100');
  expect(daemon.texts.at(-1)).toContain('pawl down && pawl up');
  await expect(setConfig(daemon.context, 'provider', 'nobody')).rejects.toMatchObject({ code: 'unknown_provider' });
});

test('an agent may read, and change nothing', async () => {
  await using place = await aHome();
  vi.stubEnv('PAWL_AGENT_ID', 'an-agent');
  vi.stubEnv('PAWL_AGENT_TOKEN', 'its-token');
  await expect(setConfig(place.context, 'port', '1')).rejects.toMatchObject({ code: 'forbidden' });
  await expect(unsetConfig(place.context, 'port')).rejects.toMatchObject({ code: 'forbidden' });
  await getConfig(place.context, 'port');
  expect(existsSync(place.home.config)).toBe(false);
});

test('an empty value is refused with the command that unsets the key, and nothing is written', async () => {
  await using place = await aHome(commented);
  for (const text of ['', '  '])
    await expect(setConfig(place.context, 'provider', text)).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('pawl config unset provider') as string,
    });
  expect(place.read()).toBe(commented);
});

test('a provider that is not installed is set with a warning', async () => {
  const gemini = { name: 'gemini', program: 'gemini', path: null, install: null };
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { providers: [gemini], problems: [] }));
  expect(await setConfig(daemon.context, 'provider', 'gemini')).toBe(0);
  expect(daemon.said).toEqual(['warning: gemini is not installed (gemini is not on your PATH)']);
});
