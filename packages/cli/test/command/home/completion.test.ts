import { temporaryDirectory } from '@pawl/testing/temporary';
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { completion } from '../../../src/command/home/completion.ts';
import { buildProgram } from '../../../src/program.ts';
import { mainFile, runCli } from '../../run-cli.ts';

/** The words that are suggested, without their descriptions. */
function suggestions(...words: string[]): string[] {
  const print = vi.spyOn(console, 'log').mockReturnValue();
  expect(
    completion(
      buildProgram(() => {}),
      ['complete', '--', ...words],
    ),
  ).toBe(0);
  const lines = print.mock.calls.map(([line]) => String(line));
  print.mockRestore();
  return lines.filter((line) => !line.startsWith(':')).map((line) => line.split('\t')[0] ?? '');
}

describe('suggestions', () => {
  test.each<[string[], string[]]>([
    [['wo'], ['work', 'worktree']],
    [['st'], ['stop', 'status']],
    [['scr'], []],
    [['nothing-like-this'], []],
    [
      ['work', '--pro'],
      ['--provider', '--project'],
    ],
    [['ps', '--j'], ['--json']],
    [['logs', '-f', '--r'], ['--raw']],
    [
      ['worktree', ''],
      ['ls', 'restore', 'prune', 'help'],
    ],
    [['worktree', 'p'], ['prune']],
    [['worktree', 'prune', '--older-than', '14d', '--f'], ['--force']],
    [['fork', '--no-s'], ['--no-switch']],
  ])('%j gives %j', (words, expected) => {
    expect(suggestions(...words)).toEqual(expected);
  });

  test('an empty word gives every visible command', () => {
    const all = suggestions('');
    expect(all).toEqual(expect.arrayContaining(['up', 'work', 'ps', 'completion', 'version']));
    expect(all).not.toContain('scripted-agent');
  });
});

test.each([
  ['bash', 'complete -o default -F'],
  ['zsh', '#compdef pawl'],
  ['fish', 'complete -c pawl'],
])('the script for %s registers itself and calls back', async (shell, registration) => {
  const { code, stdout, stderr } = await runCli(['completion', shell]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(registration);
  expect(stdout).toContain('pawl completion complete --');
});

describe('the script in bash', () => {
  /** Sources the script, twice as a second shell start-up would, and completes the last of the given words. */
  async function complete(directory: string, ...words: string[]): Promise<string[]> {
    const script = join(directory, 'completion.bash');
    writeFileSync(script, (await runCli(['completion', 'bash'])).stdout);
    const pawl = join(directory, 'pawl');
    const command = `'${process.execPath}' '${mainFile}'`;
    writeFileSync(pawl, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
    const body = `set -eu
      source "$1"; source "$1"; shift
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
      entry=$(complete -p pawl); function=\${entry##*-F }; "\${function%% *}"
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const output = execFileSync(
      'bash',
      ['--norc', '-c', body, 'bash', join(directory, 'completion.bash'), 'pawl', ...words],
      {
        cwd: directory,
        encoding: 'utf8',
        env: { ...process.env, PATH: `${directory}${delimiter}${process.env['PATH']}` },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    return output.split('\n').filter((line) => line !== '');
  }

  test('completes commands and options without any other package', async () => {
    await using directory = await temporaryDirectory('pawl-bash');
    expect(await complete(directory.path, 'wor')).toEqual(['work', 'worktree']);
    expect(await complete(directory.path, 'worktree', 'r')).toEqual(['restore']);
    expect(await complete(directory.path, 'ps', '--j')).toEqual(['--json']);
    expect(await complete(directory.path, '')).toContain('doctor');
  });

  test('does not run anything on the line', async () => {
    await using directory = await temporaryDirectory('pawl-bash');
    await complete(directory.path, 'work', '"$(touch ran)"', '`touch ran`', '; touch ran', '--pro');
    expect(existsSync(join(directory.path, 'ran'))).toBe(false);
  });
});
