import { version } from '@pawl/protocol/programs';
import { temporaryDirectory } from '@pawl/testing/temporary';
import type { Command } from 'commander';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildProgram } from '../src/program.ts';
import { runCli } from './run-cli.ts';

/** Commands that print a script or play a part, and so have no JSON form. */
const withoutJson = ['completion', 'scripted-agent'];

/** The help of a command as a person gets it. */
function helpOf(command: Command): string {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return help;
}

const commands = buildProgram(() => {}).commands.map((command) => [command.name(), command] as const);

describe('every command', () => {
  test('the ones there are', () => {
    const names = 'up down status doctor init work ps logs inspect stop events completion version scripted-agent';
    expect(commands.map(([name]) => name)).toEqual(names.split(' '));
  });

  test.each(commands)('%s says what it does, what its options mean, and whether it has JSON', (name, command) => {
    expect(command.description()).toMatch(/^[a-z].{8,}[^.]$/);
    for (const option of command.options) expect(option.description, option.flags).toMatch(/./);
    expect(command.options.some((option) => option.long === '--json')).toBe(!withoutJson.includes(name));
    const shorts = command.options.map((option) => option.short).filter((short) => short !== undefined);
    expect(new Set(shorts).size).toBe(shorts.length);
  });

  test.each(commands.filter(([name]) => name !== 'scripted-agent'))(
    '%s has an example in its help that parses',
    (name, command) => {
      const help = helpOf(command);
      const example = new RegExp(`Example:\\n  (?:source <\\()?pawl ${name}([^)\\n]*)`).exec(help)?.[1];
      expect(example).toBeDefined();
      for (const option of example?.match(/(?<= )--?[a-z]+/g) ?? []) {
        expect(command.options.flatMap(({ long, short }) => [long, short])).toContain(option);
      }
    },
  );

  test('the program’s own help leads to the first steps and hides what people need not see', () => {
    const help = helpOf(buildProgram(() => {}));
    expect(help).toContain('pawl init && pawl work');
    expect(help).not.toContain('scripted-agent');
  });
});

describe('mistakes exit with 2, say why on stderr, and start nothing', () => {
  test.each([
    ['an unknown command', ['wrok', 'x'], 'Did you mean work?'],
    ['an unknown option', ['ps', '--jsn'], '--json'],
    ['a missing argument', ['logs'], 'agent'],
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

  test('with --json a mistake in a value is told as JSON', async () => {
    const { code, stderr } = await runCli(['ps', '--json', '--limit', 'x']);
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
