import { palette } from '@pawl/cli/terminal/palette';
import type { Client } from '@pawl/protocol/client';
import { homeClient } from '@pawl/protocol/node/home-client';
import { homeAt } from '@pawl/protocol/node/home';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cast } from './story.ts';
import { tell } from './story.ts';

const root = join(import.meta.dirname, '..');
const colours = palette(process.stdout);
const say = (text = '') => process.stdout.write(`${text}\n`);
const patienceMs = 5 * 60_000;
const identity = { name: 'You', email: 'you@example.invalid' };

/** Two of them change the same lines, and one breaks a test. */
const tasks = [
  { task: 'Let the greeting use the name it is given', scenario: 'greeting' },
  { task: 'Make the sum faster', scenario: 'faster' },
  { task: 'Add a product beside the sum', scenario: 'product' },
  { task: 'Say in the README how to run the tests', scenario: 'readme' },
  { task: 'Say goodbye as well as hello', scenario: 'farewell' },
];

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
function demoEnvironment(workplace: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(GIT_|XDG_|PAWL_|HOME$)/.test(name));
  return {
    ...Object.fromEntries(kept),
    HOME: join(workplace, 'user'),
    GIT_CONFIG_NOSYSTEM: '1',
    PAWL_HOME: join(workplace, 'home'),
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
  return execFileSync(join(root, 'dist', 'pawl.mjs'), given, { cwd: repository, env, encoding: 'utf8' });
}

/** Reports events until every task's change is on main. Returns whether that happened in time. */
async function watch(client: Client, after: number): Promise<boolean> {
  const cast: Cast = { agents: new Map(), changes: new Map() };
  const merged = new Set<unknown>();
  const patience = AbortSignal.timeout(patienceMs);
  try {
    for await (const message of client.followEvents(after, {}, patience)) {
      if (message.type !== 'event') continue;
      const line = tell(message.event, cast, colours);
      if (line !== null) say(line);
      if (message.event.type === 'change.merged') merged.add(message.event.data['changeId']);
      if (message.event.type === 'main.advanced' && merged.size === tasks.length) return true;
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

/** Runs the demo. Returns null on success, else what went wrong. */
async function main(workplace: string): Promise<string | null> {
  const repository = join(workplace, 'sample');
  mkdirSync(repository);
  await sampleRepository(repository, { files });
  await introduceYourself(workplace, repository);
  const run = (...words: string[]) => pawl(workplace, repository, words);
  say('A sample repository with tests, an empty home for Pawl, and five things to do at once.');
  say(
    'The agents are stand-ins: the provider "scripted" plays written scenarios. No AI is asked, and nothing is sent anywhere.\n',
  );
  say(run('up').trimEnd());
  say(run('init', '--auto-merge').trimEnd());
  // Otherwise the stand-in's changes would stay drafts.
  appendFileSync(join(repository, '.pawl', 'config.yaml'), 'playground: true\n');
  await git(repository, ['add', '.pawl/config.yaml']);
  await git(repository, ['commit', '--quiet', '-m', 'chore: configure the checks']);
  const client = homeClient(homeAt(join(workplace, 'home')));
  const { lastSeq } = await client.daemon();
  for (const { task, scenario } of tasks)
    say(run('work', task, '--provider', 'scripted', '--scenario', `demo/scenarios/${scenario}.yaml`).split('\n', 1)[0]);
  say();
  const isDone = await watch(client, lastSeq);
  say();
  say(run('change', 'ls', '--all').trimEnd());
  say(`\n${colours.dim('$')} ${colours.bold('git log --graph main')}`);
  say(await git(repository, ['log', '--graph', '--format=%h %s', 'main']));
  say('\nEvery commit of main, checked out and tested:');
  const allPass = await replay(repository, workplace);
  const status = await git(repository, ['status', '--porcelain']);
  say(`\nYour checkout followed main and ${status === '' ? 'is clean' : `is not clean:\n${status}`}.`);
  say(run('down').trimEnd());
  if (!isDone) return `not all of the five changes were merged within ${patienceMs / 60_000} minutes`;
  if (!allPass) return 'a commit of main does not pass its tests';
  return status === '' ? null : 'the checkout is not clean';
}

/** Stops the daemon and removes all files in any case. */
function cleanUp(workplace: string): void {
  try {
    execFileSync(join(root, 'dist', 'pawl.mjs'), ['down', '--quiet'], {
      env: demoEnvironment(workplace),
      stdio: 'ignore',
    });
  } catch {
    // The daemon never started, or could not be stopped; the failure is printed below.
  }
  rmSync(workplace, { recursive: true, force: true, maxRetries: 3 });
}

/** The first line of a failure: a command's stderr, if there is some. */
function reasonOf(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  const text = said || (error instanceof Error ? error.message : String(error));
  return text.split('\n', 1)[0] ?? '';
}

const workplace = mkdtempSync(join(tmpdir(), 'pawl-demo-'));
let failure: string | null = 'it was interrupted';
try {
  failure = await main(workplace);
} catch (error) {
  failure = reasonOf(error);
} finally {
  cleanUp(workplace);
}
say();
say(failure === null ? colours.green('demo passed') : colours.red(`demo failed: ${failure}`));
process.exitCode = failure === null ? 0 : 1;
