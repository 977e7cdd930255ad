import { temporaryDirectory } from '@pawl/testing/temporary';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { keepAnchorsOut } from '@pawl/roster/anchor/exclude';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hooksStatus, installHooks, uninstallHooks } from '../../../src/command/home/hooks.ts';
import { createContext } from '../../../src/context.ts';

async function place() {
  const directory = await temporaryDirectory();
  const [root, home] = [join(directory.path, 'shop'), join(directory.path, 'home')];
  await sampleRepository(root);
  mkdirSync(join(home, 'bin'), { recursive: true });
  writeFileSync(join(home, 'bin', 'pawl'), '');
  const answers: unknown[] = [];
  const said: string[] = [];
  const context = {
    ...createContext({ home }),
    answer: (_kind: string, data: unknown) => void answers.push(data),
    say: (text: string) => void said.push(text),
  };
  const read = (name: string) => readFileSync(join(root, name), 'utf8');
  return {
    directory,
    root,
    home,
    context,
    answers,
    said,
    read,
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

const settings = '.claude/settings.local.json';
const tracked = async () => ({ name: 'shop', tracked: false });
const nobody = { present: false, ask: async () => '' };
const person = (answer: string) => ({ present: true, ask: async () => answer });

test('the hooks are shown, written, and removed again without a trace [S0-02]', async () => {
  await using shop = await place();
  const { context, root, said, read, answers } = shop;
  writeFileSync(join(root, 'AGENTS.md'), '# Rules\n');
  await git(root, ['add', 'AGENTS.md']);
  await git(root, ['-c', 'user.name=me', '-c', 'user.email=me@localhost', 'commit', '-qm', 'rules']);
  await installHooks(context, { project: root }, nobody, tracked);
  expect(said.join('\n')).toContain('+     "SessionStart": [');
  expect(said.join('\n')).toContain('+ ## Working beside other agents');
  expect(read(settings)).toContain(`PAWL_HOME=${context.home.root} ${context.home.bin}/pawl hook session-start`);
  expect(read('AGENTS.md')).toContain('# Rules\n\n<!-- pawl:begin -->');
  // The personal file does not make the checkout dirty.
  expect(await git(root, ['status', '--porcelain'])).toBe(' M AGENTS.md'.trim());
  hooksStatus(context, { project: root });
  expect(answers.at(-1)).toEqual({ root, claude: true, agents: true });
  await uninstallHooks(context, { project: root }, nobody);
  expect(existsSync(join(root, settings))).toBe(false);
  expect(read('AGENTS.md')).toBe('# Rules\n');
});

test('a person’s no, and a dry run, change nothing', async () => {
  await using shop = await place();
  const { context, root, answers, said } = shop;
  await installHooks(context, { project: root }, person('n'), tracked);
  await installHooks(context, { project: root, dryRun: true }, nobody, tracked);
  expect(said.length).toBeGreaterThan(0);
  expect(answers).toMatchObject([{ done: false }, { done: false }]);
  expect(existsSync(join(root, '.claude'))).toBe(false);
  expect(existsSync(join(root, 'AGENTS.md'))).toBe(false);
  await installHooks(context, { project: root, agentsMd: false }, person('yes'), tracked);
  expect(existsSync(join(root, settings))).toBe(true);
  expect(existsSync(join(root, 'AGENTS.md'))).toBe(false);
});

test('a broken settings file and a link out of the checkout are refused, and nothing is written', async () => {
  await using shop = await place();
  const { context, root, read, directory } = shop;
  mkdirSync(join(root, '.claude'));
  writeFileSync(join(root, settings), '{ "hooks": ');
  await expect(installHooks(context, { project: root }, nobody, tracked)).rejects.toMatchObject({
    code: 'invalid_input',
  });
  expect(read(settings)).toBe('{ "hooks": ');
  writeFileSync(join(root, settings), '{}');
  writeFileSync(join(directory.path, 'outside.md'), 'mine\n');
  symlinkSync(join(directory.path, 'outside.md'), join(root, 'AGENTS.md'));
  await expect(installHooks(context, { project: root }, nobody, tracked)).rejects.toMatchObject({ code: 'conflict' });
  expect(readFileSync(join(directory.path, 'outside.md'), 'utf8')).toBe('mine\n');
  expect(read(settings)).toBe('{}');
});

test('AGENTS.md that links to another file of the checkout is written there', async () => {
  await using shop = await place();
  const { context, root, read } = shop;
  writeFileSync(join(root, 'CLAUDE.md'), '# Rules\n');
  symlinkSync('CLAUDE.md', join(root, 'AGENTS.md'));
  await installHooks(context, { project: root }, nobody, tracked);
  expect(read('CLAUDE.md')).toContain('pawl session begin');
});

test('a directory that is not a checkout is refused, and nothing is written there', async () => {
  await using shop = await place();
  const { context, directory } = shop;
  const [missing, plain, bare] = ['missing', 'plain', 'bare.git'].map((name) => join(directory.path, name));
  mkdirSync(plain ?? '');
  await git(directory.path, ['init', '-q', '--bare', bare ?? '']);
  for (const [project, code, words] of [
    [missing, 'usage', /is not a directory/],
    [plain, 'not_a_repository', /not in a checkout/],
    [bare, 'not_a_repository', /bare repository/],
  ] as const) {
    const options = { project: project ?? '', yes: true };
    await expect(installHooks(context, options, nobody, tracked)).rejects.toMatchObject({ code, message: words });
    await expect(uninstallHooks(context, options, nobody)).rejects.toMatchObject({ code });
  }
  expect(existsSync(missing ?? '')).toBe(false);
  for (const each of [plain, bare]) expect(existsSync(join(each ?? '', '.claude'))).toBe(false);
});

test('a .claude that is a file, and one that leads out of the checkout, are refused with advice', async () => {
  await using shop = await place();
  const { context, root, directory } = shop;
  writeFileSync(join(root, '.claude'), 'mine');
  const refused = { code: 'conflict', hint: expect.stringContaining('Nothing was changed') as string };
  await expect(installHooks(context, { project: root }, nobody, tracked)).rejects.toMatchObject(refused);
  expect(shop.read('.claude')).toBe('mine');
  rmSync(join(root, '.claude'));
  symlinkSync(directory.path, join(root, '.claude'));
  await expect(installHooks(context, { project: root }, nobody, tracked)).rejects.toMatchObject(refused);
  expect(existsSync(join(root, 'AGENTS.md'))).toBe(false);
  expect(existsSync(join(directory.path, 'settings.local.json'))).toBe(false);
});

test('uninstall leaves every file as it was before, byte for byte [W0-11]', async () => {
  await using shop = await place();
  const { context, root, read } = shop;
  const exclude = '.git/info/exclude';
  const compact = '{"model":"opus",  "hooks":{"Stop":[]}}';
  mkdirSync(join(root, '.git', 'info'), { recursive: true });
  writeFileSync(join(root, exclude), '# mine\n*.log');
  mkdirSync(join(root, '.claude'));
  writeFileSync(join(root, settings), compact);
  writeFileSync(join(root, 'AGENTS.md'), '# Rules\r\n\r\nNo tabs.');
  await installHooks(context, { project: root, agentsMd: false }, nobody, tracked);
  // Installing again, also for another home, keeps the first text.
  await installHooks(context, { project: root }, nobody, tracked);
  expect(read(settings)).not.toBe(compact);
  expect(read(exclude)).toContain('settings.local.json');
  await uninstallHooks(context, { project: root }, nobody);
  expect([read(settings), read('AGENTS.md')]).toEqual([compact, '# Rules\r\n\r\nNo tabs.']);
  expect(read(exclude)).toBe('# mine\n*.log');
  expect(existsSync(context.home.hooks) && readdirSync(context.home.hooks)).toEqual([]);
});

test('uninstall removes what install created: the file, its directory and the lines of the exclude file', async () => {
  await using shop = await place();
  const { context, root, read } = shop;
  const exclude = '.git/info/exclude';
  mkdirSync(join(root, '.git', 'info'), { recursive: true });
  writeFileSync(join(root, exclude), '# mine\n');
  const texts: string[] = [];
  const telling = {
    ...context,
    answer: (_kind: string, _data: unknown, text: () => string) => void texts.push(text()),
  };
  await installHooks(telling, { project: root }, nobody, async () => ({ name: 'shop', tracked: true }));
  expect(texts.at(-1)).toContain('commit AGENTS.md to share it');
  expect(texts.at(-1)).toContain('shop is now a project, so that agents here can write to each other');
  await installHooks(telling, { project: root }, nobody, tracked);
  expect(texts.at(-1)).toBe('the hooks are already installed');
  // A session that began meanwhile has added its own line.
  keepAnchorsOut(root);
  await uninstallHooks(telling, { project: root }, nobody);
  expect(texts.at(-1)).not.toContain('to share it');
  expect(existsSync(join(root, '.claude'))).toBe(false);
  expect(existsSync(join(root, 'AGENTS.md'))).toBe(false);
  expect(read(exclude)).toBe('# mine\n');
  expect(await git(root, ['status', '--porcelain', '--ignored'])).toBe('');
});

test('a person’s changes in between stay', async () => {
  await using shop = await place();
  const { context, root, read } = shop;
  writeFileSync(join(root, 'AGENTS.md'), '# Rules');
  mkdirSync(join(root, '.claude'));
  writeFileSync(join(root, '.claude', 'other.json'), '{}');
  await installHooks(context, { project: root }, nobody, tracked);
  writeFileSync(join(root, 'AGENTS.md'), `${read('AGENTS.md')}\n## More\n`);
  writeFileSync(join(root, settings), JSON.stringify({ ...(JSON.parse(read(settings)) as object), model: 'opus' }));
  await uninstallHooks(context, { project: root }, nobody);
  expect(read('AGENTS.md')).toBe('# Rules\n\n## More\n');
  expect(JSON.parse(read(settings))).toEqual({ model: 'opus' });
  // A second time there is nothing to take out, and nothing is formatted anew.
  writeFileSync(join(root, settings), '{ "model":"opus" }');
  await uninstallHooks(context, { project: root }, nobody);
  expect(read(settings)).toBe('{ "model":"opus" }');
});
