// Installs the real coding CLIs into the cache, once, and tests Pawl with them: the named ones, or all of them without
// a name or with `all`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const say = (text) => process.stdout.write(`${text}\n`);
const warn = (text) => process.stderr.write(`${text}\n`);
const root = join(import.meta.dirname, '..');
const cache = join(root, '.cache', 'providers');
const results = join(root, '.cache', 'real-results');
const { realClis } = await import('../test/real/clis.ts');

/** Stories that use one of the CLIs. */
const stories = { planner: 'claude' };
const known = [...Object.keys(realClis), ...Object.keys(stories)];

const asked = process.argv.slice(2).filter((word) => word !== 'all');
const unknown = asked.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  warn(`There is no CLI ${unknown.join(', ')}. There are: ${known.join(', ')}.`);
  process.exit(2);
}
const names = asked.length > 0 && !process.argv.includes('all') ? asked : known;
for (const name of new Set(names.map((each) => stories[each] ?? each))) install(name, realClis[name]);
for (const name of names) rmSync(join(results, `${name}.json`), { force: true });
const code = runTests();
printTable();
process.exit(code);

/** Installs beside and renames, so that a broken download is never taken for the program. */
function install(name, { package: packageName, version, program = name }) {
  const place = join(cache, `${name}-${version}`);
  if (existsSync(join(place, 'node_modules', '.bin', program))) return;
  say(`Installing ${packageName} ${version} (once; it stays in .cache/providers) …`);
  const fresh = `${place}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  writeFileSync(join(fresh, 'package.json'), JSON.stringify({ private: true }));
  const words = ['install', '--no-audit', '--no-fund', '--loglevel=error', `${packageName}@${version}`];
  const { status } = spawnSync('npm', words, { cwd: fresh, stdio: 'inherit' });
  if (status !== 0) {
    warn(`${packageName} could not be installed; see above.`);
    process.exit(1);
  }
  rmSync(place, { recursive: true, force: true });
  renameSync(fresh, place);
}

/** Runs the tests, if possible in a network namespace with only loopback. */
function runTests() {
  const vitest = [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--config', 'vitest.real.config.ts'];
  // Each result is printed when it is there: a CLI takes minutes, and a run that is cut short has told what it found.
  const command = [
    process.execPath,
    ...vitest,
    '--reporter=verbose',
    ...names.map((name) => `test/real/${name}.real.ts`),
  ];
  const alone = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
  const isolated = spawnSync(alone[0], [...alone.slice(1), 'true'], { stdio: 'ignore' }).status === 0;
  say(isolated ? 'No network but loopback.' : 'With the network of this machine: a namespace cannot be made.');
  const [program, ...words] = isolated ? [...alone, ...command] : command;
  return spawnSync(program, words, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

/** Prints capability × CLI, and below it why something is not applicable or special. */
function printTable() {
  const columns = names.filter((name) => existsSync(join(results, `${name}.json`)));
  const outcomes = columns.map((name) => JSON.parse(readFileSync(join(results, `${name}.json`), 'utf8')));
  const titles = [...new Set(outcomes.flatMap((each) => Object.keys(each)))];
  const notes = [];
  const cellOf = (outcome) => {
    if (outcome === undefined) return '-';
    if (outcome.note === null) return outcome.held;
    if (!notes.includes(outcome.note)) notes.push(outcome.note);
    return `${outcome.held} ${notes.indexOf(outcome.note) + 1}`;
  };
  const width = Math.max(0, ...titles.map((title) => title.length));
  const row = (title, cells) =>
    say(`${title.padEnd(width)}  ${cells.map((cell) => cell.padEnd(8)).join('  ')}`.trimEnd());
  say('');
  row('', columns);
  for (const title of titles)
    row(
      title,
      outcomes.map((each) => cellOf(each[title])),
    );
  say('');
  for (const [index, note] of notes.entries()) say(`${index + 1}  ${note}`);
  const held = outcomes.flatMap((each) => Object.values(each)).map(({ held: each }) => each);
  const count = (which) => held.filter((each) => each === which).length;
  say(`\n${count('yes')} held, ${count('NO')} did not, ${count('n/a')} not applicable`);
}
