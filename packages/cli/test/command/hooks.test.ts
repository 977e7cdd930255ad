import { temporaryDirectory } from '@pawl/testing/temporary';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hooksStatus, installHooks, uninstallHooks } from '../../src/command/hooks.ts';
import { createContext } from '../../src/context.ts';

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
const nobody = { present: false, ask: async () => '' };
const person = (answer: string) => ({ present: true, ask: async () => answer });

test('the hooks are shown, written, and taken out again without a trace [S0-02]', async () => {
  await using shop = await place();
  const { context, root, said, read, answers } = shop;
  writeFileSync(join(root, 'AGENTS.md'), '# Rules\n');
  await git(root, ['add', 'AGENTS.md']);
  await git(root, ['-c', 'user.name=me', '-c', 'user.email=me@localhost', 'commit', '-qm', 'rules']);
  await installHooks(context, { project: root }, nobody);
  expect(said.join('\n')).toContain('+     "SessionStart": [');
  expect(said.join('\n')).toContain('+ ## Working beside other agents');
  expect(read(settings)).toContain(`PAWL_HOME='${context.home.root}' '${context.home.bin}/pawl' hook session-start`);
  expect(read('AGENTS.md')).toContain('# Rules\n\n<!-- pawl:begin -->');
  // The personal file does not make the checkout dirty.
  expect(await git(root, ['status', '--porcelain'])).toBe(' M AGENTS.md'.trim());
  hooksStatus(context, { project: root });
  expect(answers.at(-1)).toEqual({ root, claude: true, agents: true });
  await uninstallHooks(context, { project: root }, nobody);
  expect(existsSync(join(root, settings))).toBe(false);
  expect(read('AGENTS.md')).toBe('# Rules\n');
});

test('a person who says no, and a dry run, change nothing', async () => {
  await using shop = await place();
  const { context, root, answers, said } = shop;
  await installHooks(context, { project: root }, person('n'));
  await installHooks(context, { project: root, dryRun: true }, nobody);
  expect(said.length).toBeGreaterThan(0);
  expect(answers).toMatchObject([{ done: false }, { done: false }]);
  expect(existsSync(join(root, '.claude'))).toBe(false);
  expect(existsSync(join(root, 'AGENTS.md'))).toBe(false);
  await installHooks(context, { project: root, agentsMd: false }, person('yes'));
  expect(existsSync(join(root, settings))).toBe(true);
  expect(existsSync(join(root, 'AGENTS.md'))).toBe(false);
});

test('a broken settings file and a link out of the checkout are refused, and nothing is written', async () => {
  await using shop = await place();
  const { context, root, read, directory } = shop;
  mkdirSync(join(root, '.claude'));
  writeFileSync(join(root, settings), '{ "hooks": ');
  await expect(installHooks(context, { project: root }, nobody)).rejects.toMatchObject({ code: 'invalid_input' });
  expect(read(settings)).toBe('{ "hooks": ');
  writeFileSync(join(root, settings), '{}');
  writeFileSync(join(directory.path, 'outside.md'), 'mine\n');
  symlinkSync(join(directory.path, 'outside.md'), join(root, 'AGENTS.md'));
  await expect(installHooks(context, { project: root }, nobody)).rejects.toMatchObject({ code: 'conflict' });
  expect(readFileSync(join(directory.path, 'outside.md'), 'utf8')).toBe('mine\n');
  expect(read(settings)).toBe('{}');
});

test('AGENTS.md that leads to another file of the checkout is written there', async () => {
  await using shop = await place();
  const { context, root, read } = shop;
  writeFileSync(join(root, 'CLAUDE.md'), '# Rules\n');
  symlinkSync('CLAUDE.md', join(root, 'AGENTS.md'));
  await installHooks(context, { project: root }, nobody);
  expect(read('CLAUDE.md')).toContain('pawl session begin');
});
