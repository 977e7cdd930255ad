import { palette } from '@pawl/cli/terminal/palette';
import type { Client } from '@pawl/protocol/client';
import { homeClient } from '@pawl/protocol/node/home-client';
import { homeAt } from '@pawl/protocol/node/home';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cast } from './story.ts';
import { tell } from './story.ts';

const root = join(import.meta.dirname, '..');
export const program = join(root, 'dist', 'pawl.mjs');
export const colours = palette(process.stdout);
export const say = (text = '') => process.stdout.write(`${text}\n`);
const patienceMs = 5 * 60_000;
const identity = { name: 'You', email: 'you@example.invalid' };

/** A repository with a tracked project, and a daemon of its own. */
export type Workplace = {
  repository: string;
  client: Client;
  /** Runs the command line like a person. Returns what it printed. */
  run(...words: string[]): string;
};

const files = {
  'README.md': '# Sample\n\nA tiny program that greets and adds.\n',
  'package.json': '{"name":"sample","type":"module","scripts":{"test":"node --test"}}\n',
  'src/greet.js': "export const greet = () => 'Hello!';\n",
  'src/sum.js': 'export const sum = (...numbers) => numbers.reduce((total, number) => total + number, 0);\n',
  'test/sum.test.js': `import assert from 'node:assert/strict';
import test from 'node:test';
import { sum } from '../src/sum.js';

test('adds numbers', () => assert.equal(sum(1, 2, 3), 6));
test('is zero for nothing', () => assert.equal(sum(), 0));
`,
};

/**
 * The environment of the demo: its own user directory with a git identity, and none of the person's git settings, which
 * may sign commits or run hooks.
 */
export function demoEnvironment(workplace: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(GIT_|XDG_|PAWL_|HOME$)/.test(name));
  return {
    ...Object.fromEntries(kept),
    HOME: join(workplace, 'user'),
    GIT_CONFIG_NOSYSTEM: '1',
    PAWL_HOME: join(workplace, 'home'),
    DEMO_KEY: 'sk-demo-0123456789',
  };
}

/** Creates the user directory, and overrides the system's git settings in the repository itself. */
async function introduceYourself(workplace: string, repository: string): Promise<void> {
  const { name, email } = identity;
  mkdirSync(join(workplace, 'user'));
  writeFileSync(join(workplace, 'user', '.gitconfig'), `[user]\n\tname = ${name}\n\temail = ${email}\n`);
  const settings = { 'user.name': name, 'user.email': email, 'commit.gpgsign': 'false', 'core.hooksPath': '/dev/null' };
  for (const [key, value] of Object.entries(settings)) await git(repository, ['config', key, value]);
}

/** Runs the command line like a person, and prints what was typed. */
function pawl(workplace: string, repository: string, words: string[]): string {
  const shown = words.map((word) => (/[ "]/.test(word) ? JSON.stringify(word) : word)).join(' ');
  say(`${colours.dim('$')} ${colours.bold(`pawl ${shown}`)}`);
  const given = words.map((word) => word.replace(/^demo\//, `${root}/demo/`));
  const env = demoEnvironment(workplace);
  return execFileSync(program, given, { cwd: repository, env, encoding: 'utf8' }).trimEnd();
}

/** Creates the repository, starts the daemon and tracks the project; passing changes are merged. */
export async function openWorkplace(place: string, config: string): Promise<Workplace> {
  const repository = join(place, 'sample');
  mkdirSync(repository);
  await sampleRepository(repository, { files });
  await introduceYourself(place, repository);
  const run = (...words: string[]) => pawl(place, repository, words);
  say(run('up'));
  say(run('init', '--auto-merge'));
  appendFileSync(join(repository, '.pawl', 'config.yaml'), config);
  await git(repository, ['add', '.pawl/config.yaml']);
  await git(repository, ['commit', '--quiet', '-m', 'chore: configure the checks']);
  return { repository, run, client: homeClient(homeAt(join(place, 'home'))) };
}

/** Reports events until this many changes are on main. Returns whether that happened in time. */
export async function watch({ client }: Workplace, after: number, changes: number): Promise<boolean> {
  const cast: Cast = { agents: new Map(), changes: new Map() };
  const merged = new Set<unknown>();
  const patience = AbortSignal.timeout(patienceMs);
  try {
    for await (const message of client.followEvents(after, {}, patience)) {
      if (message.type !== 'event') continue;
      const line = tell(message.event, cast, colours);
      if (line !== null) say(line);
      if (message.event.type === 'change.merged') merged.add(message.event.data['changeId']);
      if (message.event.type === 'main.advanced' && merged.size === changes) return true;
    }
  } catch (error) {
    if (!patience.aborted) throw error;
  }
  return false;
}

/** Checks out every commit of main in turn, and runs the sample's tests there. */
async function replay(repository: string, place: string): Promise<boolean> {
  const commits = (await git(repository, ['rev-list', '--reverse', 'main'])).split('\n');
  const clone = join(place, 'replay');
  await git(place, ['clone', '--quiet', '--no-checkout', repository, clone]);
  let allPass = true;
  for (const commit of commits) {
    await git(clone, ['checkout', '--quiet', '--detach', commit]);
    const passes = testsPass(clone);
    const subject = await git(clone, ['log', '-1', '--format=%h %s']);
    say(`${passes ? colours.green('✓') : colours.red('✗')} ${subject}`);
    allPass &&= passes;
  }
  return allPass;
}

function testsPass(directory: string): boolean {
  try {
    execFileSync(process.execPath, ['--test'], { cwd: directory, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Shows the changes and main, and tests every commit. Returns null if all is well, else what is wrong. */
export async function review(place: string, { repository, run }: Workplace, isDone: boolean): Promise<string | null> {
  say(run('change', 'ls', '--all'));
  say(`\n${colours.dim('$')} ${colours.bold('git log --graph main')}`);
  say(await git(repository, ['log', '--graph', '--format=%h %s', 'main']));
  say('\nEvery commit of main, checked out and tested:');
  const allPass = await replay(repository, place);
  const status = await git(repository, ['status', '--porcelain']);
  say(`\nYour checkout followed main and ${status === '' ? 'is clean' : `is not clean:\n${status}`}.`);
  say(run('down'));
  if (!isDone) return `not all changes were merged within ${patienceMs / 60_000} minutes`;
  if (!allPass) return 'a commit of main does not pass its tests';
  return status === '' ? null : 'the checkout is not clean';
}
