import { layoutOf, readAnchor } from '@pawl/roster/anchor/anchor-file';
import { anchorPath } from '@pawl/roster/anchor/anchor-path';
import { fourCharacters } from '@pawl/roster/anchor/helper-file';
import { lookForOthers, systemProbe } from '@pawl/roster/probe';
import type { HomePrograms } from '@pawl/roster/programs-file';
import { readPrograms } from '@pawl/roster/programs-file';
import { projectRoot } from '@pawl/roster/project-root';
import { exitCodeOf } from '@pawl/roster/roster';
import { hasErrno, messageOf, PawlError } from '@pawl/schema/error';
import { spawn, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, resolve } from 'node:path';
import type { CommandContext } from '../../context.ts';

export type RunOptions = { helper?: boolean; provider?: string };

/** The default provider. */
const usualProgram = 'claude';

/** Variables that identify a session. */
const identity = ['PAWL_AGENT_ID', 'PAWL_HELPER', 'AI_AGENT_ID', 'AI_HELPER'];

/**
 * Starts an agent in this terminal, as a helper of the agent that works in the project. With nobody there it starts normally,
 * after a warning: somebody must have the primary's duties.
 */
export async function runHelper(
  context: CommandContext,
  project: string | undefined,
  words: string[],
  options: RunOptions,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  if (options.helper !== true) {
    throw new PawlError('usage', 'pawl run starts helpers only: say --helper.', {
      hint: 'To put an agent of Pawl’s to work: pawl work "…"',
    });
  }
  const directory = resolve(project ?? '.');
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new PawlError('usage', `${directory} is not a directory.`);
  const root = projectRoot(directory);
  const known = readPrograms(context.home.programs);
  const command = words.length > 0 ? words : [interactiveProgram(known, options.provider || undefined)];
  const id = isNeeded(context, root, known, environment) ? newHelperId(root) : null;
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !identity.includes(name)));
  if (id !== null) Object.assign(env, { PAWL_AGENT_ID: id, PAWL_HELPER: '1', AI_AGENT_ID: id, AI_HELPER: '1' });
  const said = { role: id === null ? 'primary' : 'helper', id, root, command };
  if (context.json) context.answer('run', said, () => '');
  else if (id !== null) context.say(`${id}: a helper in ${root}`);
  const restore = id === null ? () => {} : nameWindow(`${basename(root)}:${id}`, environment);
  try {
    return await inForeground(command, { cwd: directory, env });
  } finally {
    restore();
  }
}

/** True if a helper has a primary to help, or if that is unknown. */
function isNeeded(
  context: CommandContext,
  root: string,
  { programs }: HomePrograms,
  environment: NodeJS.ProcessEnv,
): boolean {
  try {
    const roster = lookForOthers(systemProbe(environment, programs), root, [context.home.worktrees]);
    const code = exitCodeOf(roster);
    if (code === 0) context.say('warning: no agent is working here; this is an ordinary session, not a helper');
    if (code === 2) context.say(`warning: cannot tell who else is here: ${roster.doubts.join('; ')}`);
    return code !== 0;
  } catch (error) {
    context.say(`warning: ${messageOf(error)}`);
    return true;
  }
}

/** An id for one run only: it contains the time, so that notes of a crashed run are never taken for another's. */
function newHelperId(root: string, seconds = Math.floor(Date.now() / 1_000)): string {
  for (;;) {
    const id = `helper-${fourCharacters()}.${seconds}`;
    if (readAnchor(root, anchorPath(layoutOf(root), id)) === null) return id;
  }
}

/** The program that a person types for a provider; the usual one if it has none. */
function interactiveProgram({ provider, programs }: HomePrograms, wanted: string | undefined): string {
  const name = wanted ?? provider;
  const found = programs.find((each) => each.provider === name && each.names.length > 0);
  if (found === undefined && wanted !== undefined) {
    throw new PawlError(
      'unknown_provider',
      `The provider ${JSON.stringify(wanted.slice(0, 80))} has no command to type.`,
      {
        hint: 'Name the command itself: pawl run --helper -- COMMAND',
      },
    );
  }
  return found?.program ?? usualProgram;
}

/** Runs a command in this terminal until it ends, and exits like it. */
async function inForeground(
  [program = '', ...words]: string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<number> {
  // Ctrl-Z would only leave the command halted in an unwatched window.
  const terminal = keepSuspendOff();
  const child = spawn(program, words, { ...options, stdio: 'inherit' });
  // Ctrl-C is for the command, which gets it from the terminal itself.
  const restore = [terminal, takeOver('SIGINT', () => {}), takeOver('SIGTERM', () => void child.kill('SIGTERM'))];
  try {
    return await new Promise<number>((settle, fail) => {
      child.on('error', (error) =>
        fail(
          hasErrno(error, 'ENOENT')
            ? new PawlError('not_found', `${program} is not on the PATH.`, { hint: 'Name another command after --.' })
            : error,
        ),
      );
      child.on('exit', (code, signal) => settle(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
    });
  } finally {
    for (const each of restore) each();
  }
}

/** Replaces the handling of a signal; the returned function restores it. */
function takeOver(signal: 'SIGINT' | 'SIGTERM', act: () => void): () => void {
  const before = process.listeners(signal);
  process.removeAllListeners(signal);
  process.on(signal, act);
  return () => {
    process.off(signal, act);
    for (const listener of before) process.on(signal, listener);
  };
}

/** Disables Ctrl-Z at this terminal; the returned function restores it. */
function keepSuspendOff(): () => void {
  if (!process.stdin.isTTY) return () => {};
  const stty = (...words: string[]) =>
    spawnSync('stty', words, { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' }).stdout?.trim() ?? '';
  const before = stty('-g');
  if (before === '') return () => {};
  stty('susp', 'undef');
  return () => void stty(before);
}

/** Names our tmux window to tell helpers apart; the returned function restores automatic naming. */
function nameWindow(name: string, environment: NodeJS.ProcessEnv): () => void {
  const pane = environment['TMUX_PANE'];
  if (!environment['TMUX'] || pane === undefined || !/^%\d+$/.test(pane)) return () => {};
  const tmux = (...words: string[]) => void spawnSync('tmux', words, { stdio: 'ignore', env: environment });
  tmux('rename-window', '-t', pane, name);
  return () => tmux('set-window-option', '-t', pane, 'automatic-rename', 'on');
}
