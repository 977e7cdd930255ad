import { palette } from '@pawl/cli/terminal';
import type { Client } from '@pawl/protocol/client';
import { createClient } from '@pawl/protocol/client';
import { homeAt } from '@pawl/protocol/home';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cast } from './story.ts';
import { tell } from './story.ts';

const root = join(import.meta.dirname, '..');
const colours = palette(process.stdout);
const say = (text = '') => process.stdout.write(`${text}\n`);
const patienceMs = 55_000;

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

/** Runs the command line as a person would, and shows what was typed. */
function pawl(home: string, repository: string, words: string[]): string {
  const shown = words.map((word) => (/[ "]/.test(word) ? JSON.stringify(word) : word)).join(' ');
  say(`${colours.dim('$')} ${colours.bold(`pawl ${shown}`)}`);
  const given = words.map((word) => word.replace(/^demo\//, `${root}/demo/`));
  const env = { ...process.env, PAWL_HOME: home };
  return execFileSync(join(root, 'dist', 'pawl.mjs'), given, { cwd: repository, env, encoding: 'utf8' });
}

/** Tells what happens until every task's change is on main. Returns whether that came about in time. */
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

/** Checks out every commit of main, one after the other, and runs the sample's tests there. */
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

async function main(workplace: string): Promise<number> {
  const home = join(workplace, 'home');
  const repository = join(workplace, 'sample');
  mkdirSync(repository);
  await sampleRepository(repository, { files });
  say('A sample repository with tests, an empty home for Pawl, and five things to do at once.\n');
  say(pawl(home, repository, ['up']).trimEnd());
  say(pawl(home, repository, ['init', '--auto-merge']).trimEnd());
  await git(repository, ['add', '.pawl/config.yaml']);
  const identity = ['-c', 'user.name=You', '-c', 'user.email=you@example.invalid'];
  await git(repository, [...identity, 'commit', '--quiet', '-m', 'chore: what has to pass before anything is merged']);
  const client = createClient(homeAt(home));
  const { lastSeq } = await client.daemon();
  for (const { task, scenario } of tasks) {
    const words = ['work', task, '--provider', 'scripted', '--scenario', `demo/scenarios/${scenario}.yaml`];
    say(pawl(home, repository, words).split('\n', 1)[0]);
  }
  say();
  const isDone = await watch(client, lastSeq);
  say();
  say(pawl(home, repository, ['change', 'ls', '--all']).trimEnd());
  say(`\n${colours.dim('$')} ${colours.bold('git log --graph main')}`);
  say(await git(repository, ['log', '--graph', '--format=%h %s', 'main']));
  say('\nEvery commit of main, checked out and tested:');
  const allPass = await replay(repository, workplace);
  const status = await git(repository, ['status', '--porcelain']);
  say(`\nYour checkout followed main and ${status === '' ? 'is clean' : `is not clean:\n${status}`}.`);
  say(pawl(home, repository, ['down']).trimEnd());
  return isDone && allPass && status === '' ? 0 : 1;
}

const workplace = mkdtempSync(join(tmpdir(), 'pawl-demo-'));
try {
  process.exitCode = await main(workplace);
} finally {
  try {
    execFileSync(join(root, 'dist', 'pawl.mjs'), ['down', '--quiet'], {
      env: { ...process.env, PAWL_HOME: join(workplace, 'home') },
    });
  } finally {
    rmSync(workplace, { recursive: true, force: true });
  }
}
