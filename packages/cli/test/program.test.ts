import { version } from '@pawl/protocol/node/programs';
import { errorCodes, PawlError } from '@pawl/schema/error';
import { temporaryDirectory } from '@pawl/testing/temporary';
import type { Command } from 'commander';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildProgram } from '../src/program.ts';
import { runCli } from './run-cli.ts';

/** Commands that print a script or play a part, and so have no JSON form. */
const withoutJson = ['completion', 'help', 'hook', 'mcp', 'scripted-agent'];

/** The help of a command as a person gets it. */
function helpOf(command: Command): string {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return help;
}

/** What is wrong with these words, as the command line itself says it, and the exit code; nothing is asked of a daemon. */
async function complaint(words: string[]): Promise<{ code: number; text: string }> {
  const program = buildProgram(() => {}, words[0]);
  let text = '';
  for (const [, command] of [['', program] as const, ...commandsOf(program)]) {
    command.configureOutput({ writeErr: (part) => (text += part) });
  }
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith('commander.')) return { code: 2, text };
    if (!(error instanceof PawlError)) throw error;
    return { code: errorCodes[error.code].exit, text: `${error.message} ${error.hint}` };
  }
  throw new Error(`There is nothing wrong with ${words.join(' ')}.`);
}

/** Every command under its full name; a group is followed by its own commands. */
function commandsOf(group: Command, prefix = ''): [name: string, command: Command][] {
  return group.commands.flatMap((command) => {
    const name = prefix + command.name();
    return [[name, command] as [string, Command], ...commandsOf(command, `${name} `)];
  });
}

const all = commandsOf(buildProgram(() => {}));
const groups = [
  'agent',
  'plan',
  'proposal',
  'task',
  'errand',
  'change',
  'queue',
  'account',
  'session',
  'hooks',
  'project',
  'crew',
  'worktree',
  'config',
  'dev',
  'rules',
  'models',
  'web',
];
const commands = all.filter(([name]) => !groups.includes(name));

describe('help', () => {
  test('the first page fits on a screen of 24 lines and 80 columns, and leads to the rest', () => {
    const lines = helpOf(buildProgram(() => {})).split('\n');
    expect(lines.length).toBeLessThanOrEqual(24);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    expect(lines.join('\n')).toContain('pawl help --all');
  });

  test('all commands are listed with --all, and one is explained by its words', async () => {
    const { stdout } = await runCli(['help', '--all']);
    for (const [name, command] of all.filter(([each]) => !each.includes(' ') && each !== 'scripted-agent'))
      expect([name, stdout.includes(command.description())]).toEqual([name, true]);
    expect((await runCli(['help', 'change', 'merge'])).stdout).toMatch(/^Usage: pawl change merge /);
    expect(await runCli(['help', 'nothing'])).toMatchObject({ code: 2 });
  });
});

describe('every command', () => {
  test('exactly these exist', () => {
    const agents = 'work chat fork reply resume ps tree top logs history inspect diff switch delegate result';
    const signals = 'stop pause continue interrupt cancel kill reap clear mark rewind gate hook';
    const home = 'up down status doctor events completion version scripted-agent web config';
    const projects = 'init definitions trust worktree project crew';
    const prompts = 'prompt inputs id';
    const mcp = 'whoami mcp';
    const shared = 'roster session hooks run';
    const said = 'complete agent';
    const mail = 'send mail read ack wait';
    const questions = 'ask listen answer inbox rules';
    const expected =
      `${agents} ${signals} ${said} ${mail} ${questions} ${prompts} plan proposal task errand change queue providers models account ${mcp} ${shared} ${projects} ${home} dev help`.split(
        ' ',
      );
    expect(all.map(([name]) => name).filter((name) => !name.includes(' '))).toEqual(expected);
    expect(all.map(([name]) => name).filter((name) => name.includes(' '))).toEqual([
      'agent complete',
      'agent send-message',
      'agent list-messages',
      'agent ack-message',
      'rules ls',
      'rules add',
      'rules rm',
      'plan new',
      'plan ls',
      'plan show',
      'plan graph',
      'plan edit',
      'plan discuss',
      'plan draft',
      'plan detail',
      'plan refine',
      'plan chat',
      'plan stage',
      'plan approve',
      'plan launch',
      'plan pause',
      'plan resume',
      'plan archive',
      'plan review',
      'plan land',
      'plan revert',
      'plan changes',
      'plan answer',
      'plan resolve',
      'proposal ls',
      'proposal show',
      'proposal accept',
      'proposal dismiss',
      'proposal revert',
      'task add',
      'task ls',
      'task show',
      'task history',
      'task done',
      'task block',
      'task priority',
      'task cancel',
      'task unblock',
      'errand start',
      'errand ls',
      'errand send',
      'errand diff',
      'errand merge',
      'errand abandon',
      'change open',
      'change ls',
      'change show',
      'change diff',
      'change log',
      'change comment',
      'change close',
      'change retry',
      'change merge',
      'change fix',
      'change approve',
      'change block',
      'change unblock',
      'queue status',
      'queue log',
      'queue check',
      'queue pause',
      'queue resume',
      'queue allow-push',
      'queue forbid-push',
      'models ls',
      'models add',
      'models default',
      'models test',
      'models rm',
      'account add',
      'account ls',
      'account rm',
      'account test',
      'account use',
      'session path',
      'session begin',
      'session end',
      'hooks install',
      'hooks uninstall',
      'hooks status',
      'worktree ls',
      'worktree restore',
      'worktree prune',
      'project ls',
      'project show',
      'project config',
      'project rm',
      'crew status',
      'crew start',
      'crew stop',
      'web open',
      'web sessions',
      'config ls',
      'config get',
      'config set',
      'config unset',
      'dev model-server',
    ]);
  });

  test('fork is a command, and there is none called spawn [S1-04]', () => {
    const words = all.flatMap(([name, command]) => [...name.split(' '), ...command.aliases()]);
    expect(words).toContain('fork');
    expect(words.filter((word) => word.includes('spawn'))).toEqual([]);
  });

  test.each(commands)('%s describes itself, its options, and whether it has JSON', (name, command) => {
    expect(command.description()).toMatch(/^[a-z].{8,}[^.]$/);
    for (const option of command.options) expect(option.description, option.flags).toMatch(/./);
    expect(command.options.some((option) => option.long === '--json')).toBe(!withoutJson.includes(name));
    const shorts = command.options.map((option) => option.short).filter((short) => short !== undefined);
    expect(new Set(shorts).size).toBe(shorts.length);
  });

  test.each(all.filter(([name]) => name !== 'scripted-agent'))(
    '%s has an example in its help that parses',
    (name, command) => {
      const help = helpOf(command);
      const example = new RegExp(`Example:\\n  (?:source <\\()?pawl ${name}([^)\\n]*)`).exec(help)?.[1];
      expect(example).toBeDefined();
      for (const option of example?.match(/(?<= )--?[a-z][a-z-]*/g) ?? []) {
        expect(command.options.flatMap(({ long, short }) => [long, short])).toContain(option);
      }
    },
  );

  test('the program’s own help leads to the first steps and hides internal commands', () => {
    const help = helpOf(buildProgram(() => {}));
    expect(help).toContain('pawl init && pawl work');
    expect(help).not.toContain('scripted-agent');
  });

  test('a group’s help lists its commands', () => {
    const group = all.find(([name]) => name === 'worktree')?.[1];
    expect(group?.description()).toMatch(/./);
    expect(helpOf(group ?? buildProgram(() => {}))).toMatch(/ls .*restore .*prune /s);
  });

  test.each(all.map(([name]) => name.split(' ')[0] ?? ''))('%s alone is the same as in the whole', (name) => {
    const only = commandsOf(buildProgram(() => {}, name));
    const flags = (some: [string, Command][]) => some.map(([full, { options }]) => [full, options.map((o) => o.flags)]);
    expect(flags(only)).toEqual(flags(all.filter(([full]) => full.split(' ')[0] === name)));
  });
});

describe('errors exit with 2, say why on stderr, and start nothing', () => {
  test.each([
    ['an unknown command', ['wrok', 'x'], 'Did you mean work?'],
    ['an unknown option', ['ps', '--jsn'], '--json'],
    ['a missing argument', ['worktree', 'restore'], 'entry'],
    ['a missing task', ['work'], 'task'],
    ['too many arguments', ['ps', 'extra'], 'too many arguments'],
    ['an option without its value', ['ps', '--limit'], '--limit'],
    ['a number that is none', ['ps', '--limit', 'many'], '"many" is not a whole number'],
    ['an empty number', ['ps', '--limit', ''], '"" is not a whole number'],
    ['a number below zero', ['ps', '--limit=-1'], '"-1" is not a whole number'],
    ['a number in another notation', ['ps', '--limit', '0x10'], '"0x10" is not a whole number'],
    ['an unknown shell', ['completion', 'tcsh'], 'bash'],
  ])('%s', async (_name, words, message) => {
    await using home = await temporaryDirectory('pawl-cli');
    const result = await runCli(words, { PAWL_HOME: join(home.path, 'home') });
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain(message);
    expect(readdirSync(home.path)).toEqual([]);
  });

  test.each([
    ['an unquoted prompt', ['fork', 'fix', 'the', 'test'], 'in quotes'],
    ['an empty prompt', ['fork', ''], 'empty'],
    ['a model that is not named', ['fork', 'fix the test', '--model'], '--model'],
    ['nobody to stop', ['stop'], '--all'],
    ['nobody to reap', ['reap'], '--all'],
    ['a gate for nothing', ['gate', 'a'], '--tool'],
    ['an action that is none', ['gate', 'a', '--action', 'Spend'], 'Patch'],
    ['a group without a command', ['worktree'], 'prune'],
    ['an unknown command of a group', ['worktree', 'prun'], 'Did you mean prune?'],
    ['deletion without a word', ['worktree', 'prune'], '--yes'],
    ['a duration that is none', ['worktree', 'prune', '--older-than', 'ages', '--yes'], '"ages" is not a duration'],
    ['an account without a secret', ['account', 'add', 'claude'], '--key-stdin'],
    ['two secrets at once', ['account', 'add', 'claude', '--key-stdin', '--token', 'x'], 'one of'],
    ['a variable that is not set', ['account', 'add', 'claude', '--key-env', 'NO_SUCH_KEY'], 'NO_SUCH_KEY'],
    ['a close without a reason', ['change', 'close', 'x'], '--reason'],
    ['a hold without a reason', ['change', 'block', 'x'], '--reason'],
    ['a time to wait that is none', ['change', 'merge', 'x', '--timeout', 'soon'], '"soon" is not a time to wait'],
    ['an unknown command of the queue', ['queue', 'chekc'], 'too many arguments'],
    ['no picture at all', ['top', '-n', '0'], 'at least once'],
    ['no time between', ['top', '--interval', '0'], 'seconds'],
  ])('%s', async (_name, words, message) => {
    const { code, text } = await complaint(words);
    expect(code).toBe(2);
    expect(text).toContain(message);
  });

  test('with --json an invalid value is reported as JSON', async () => {
    const { code, stderr } = await runCli(['ps', '--json', '--limit', 'x']);
    expect(code).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({ pawl: 1, kind: 'error', error: { code: 'usage' } });
  });

  test('with --json an error in a command of a group is reported as JSON only', async () => {
    const { code, stderr } = await runCli(['worktree', 'restore', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({ pawl: 1, kind: 'error', error: { code: 'usage' } });
  });
});

describe('answers that need no daemon', () => {
  test.each([[['version']], [['--version']], [['-V']]])('%j prints the version', async (words) => {
    expect(await runCli(words)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('version --json prints an envelope', async () => {
    const { code, stdout } = await runCli(['version', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ pawl: 1, kind: 'version', data: { version, node: process.versions.node } });
  });

  test.each([[['--help']], [['help', 'work']], [['work', '--help']]])('%j exits with 0', async (words) => {
    const { code, stdout } = await runCli(words);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: pawl');
  });

  test('status exits with 9 and starts nothing', async () => {
    await using home = await temporaryDirectory('pawl-cli');
    const { code, stdout } = await runCli(['status', '--json'], { PAWL_HOME: home.path });
    expect(code).toBe(9);
    expect(JSON.parse(stdout)).toEqual({ pawl: 1, kind: 'status', data: { up: false, home: home.path } });
    expect(readdirSync(home.path)).toEqual([]);
  });
});
