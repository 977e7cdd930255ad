// Repeats the tests that start processes or watch the clock while every core is kept busy, and lists what failed.
//   npm run test:stress -- [--rounds 10] [--busy CORES] [--root DIR] [part of a test file's path …]
import { spawn } from 'node:child_process';
import { chmodSync, createWriteStream, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { selectionRule, selectTestFiles } from './stress-selection.ts';

/** A longer round has hung. */
const roundMs = 2 * 60 * 60_000;

const say = (text) => process.stdout.write(`${text}\n`);
const { rounds, busy, root, words } = readWords();
const { all, selected } = selectTestFiles(root);
const files = selected.filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
say(selectionRule);
say(`${selected.length} of ${all.length} test files${words.length > 0 ? `; ${files.length} match the words` : ''}.`);
if (files.length === 0) process.exit(2);

const output = mkdtempSync(join(tmpdir(), 'pawl-stress-'));
/** The tests' temporary directory: a process with this path in its environment was started by them. */
const place = join(output, 'tmp');
mkdirSync(place);
// Some tests become another user, who must have access, too.
chmodSync(output, 0o711);
/** Running processes, with how to end each. */
const running = new Map();
for (let count = 0; count < busy; count += 1) startBurner();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => leave(130));
say(`${rounds} rounds beside ${busy} busy processes. The output of each round is in ${output}.`);

/** By test: the rounds in which it failed, and its first error. */
const failures = new Map();
for (let round = 1; round <= rounds; round += 1) {
  const began = performance.now();
  await runRound(round);
  endLeftovers();
  const seconds = Math.round((performance.now() - began) / 1000);
  say(`round ${round} of ${rounds}: ${seconds} s, ${failures.size} failing tests so far`);
}
printFailures();
leave(failures.size > 0 ? 1 : 0);

function readWords() {
  try {
    const options = { rounds: { type: 'string' }, busy: { type: 'string' }, root: { type: 'string' } };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    return {
      rounds: countOf('--rounds', values.rounds, 10),
      busy: countOf('--busy', values.busy, availableParallelism()),
      root: values.root ?? join(import.meta.dirname, '..'),
      words: positionals,
    };
  } catch (error) {
    process.stderr.write(`error: ${error.message}\n`);
    process.exit(2);
  }
}

function countOf(name, text, otherwise) {
  if (text === undefined) return otherwise;
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new Error(`${name} takes a number, not ${text}.`);
}

/** Keeps one core busy at the priority of the tests. Ends with this process in any case. */
function startBurner() {
  const code = `while (process.ppid === ${process.pid}) for (let count = 0; count < 1e8; count += 1);`;
  const child = spawn(process.execPath, ['-e', code], { stdio: 'ignore' });
  running.set(child, () => child.kill('SIGKILL'));
}

/** Runs all files once, in its own process group, so that it can be ended as a whole. */
async function runRound(round) {
  const report = join(output, `round-${round}.json`);
  const vitest = join(import.meta.dirname, '..', 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const paths = files.map((file) => join(root, file));
  const child = spawn(process.execPath, [vitest, 'run', '--root', root, ...reporters, ...paths], {
    cwd: root,
    detached: true,
    env: { ...process.env, NO_COLOR: '1', TMPDIR: place },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const endGroup = () => child.exitCode === null && child.signalCode === null && process.kill(-child.pid, 'SIGKILL');
  running.set(child, endGroup);
  const log = createWriteStream(join(output, `round-${round}.log`));
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const timer = setTimeout(endGroup, roundMs);
  const [code, signal] = await new Promise((resolve) => child.once('exit', (...end) => resolve(end)));
  clearTimeout(timer);
  running.delete(child);
  const found = code === 0 ? [] : readReport(report);
  for (const { test, error } of found) noteFailure(round, test, error);
  if (code !== 0 && found.length === 0) {
    noteFailure(round, '(no single test)', `vitest ended with ${code ?? signal}; see ${output}/round-${round}.log`);
  }
}

/** The failed tests of a round; a file that could not run counts as one. */
function readReport(report) {
  let results;
  try {
    results = JSON.parse(readFileSync(report, 'utf8')).testResults;
  } catch {
    return [];
  }
  return results.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter((each) => each.status === 'failed');
    if (failed.length === 0) return status === 'failed' ? [{ test: file, error: message }] : [];
    return failed.map(({ fullName, failureMessages }) => {
      return { test: `${file} > ${fullName}`, error: failureMessages.join('\n') };
    });
  });
}

function noteFailure(round, test, error) {
  const known = failures.get(test);
  if (known === undefined) failures.set(test, { rounds: [round], error });
  else known.rounds.push(round);
}

function printFailures() {
  if (failures.size === 0) return say(`No test failed in ${rounds} rounds.`);
  say('\nFailed:');
  for (const [test, { rounds: failed, error }] of failures) {
    const lines = stripVTControlCharacters(error).split('\n').slice(0, 4);
    say(`${failed.length} of ${rounds} rounds (${failed.join(', ')}): ${test}`);
    for (const line of lines) say(`    ${line}`);
  }
}

/** Ends what failed or interrupted tests have left running, if the system shows it. */
function endLeftovers() {
  const names = existsSync('/proc/self/environ') ? readdirSync('/proc') : [];
  const ended = names.filter((name) => /^\d+$/.test(name) && endIfOurs(name));
  if (ended.length > 0) say(`Tests left ${ended.length} processes running; they were ended.`);
}

/** True if the process was started by a test, and is ended. False if it has just exited. */
function endIfOurs(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${place}/`) && process.kill(Number(pid), 'SIGKILL');
  } catch {
    return false;
  }
}

function leave(code) {
  for (const end of running.values()) end();
  endLeftovers();
  process.exit(code);
}
