import type { TestCount } from '@pawl/schema/change';
import type { Runner } from './runner.ts';
import { addCounts, countOf, number, readTally } from './runner.ts';

/** A runner with a one-line summary. `count` returns null if the match turns out to be something else. */
type Closing = { pattern: RegExp; count: (groups: string[]) => TestCount | null };

const pattern = (source: string) => new RegExp(source);
const seconds = String.raw`[\d.,]{1,20} ?s`;

/**
 * Runners with a one-line summary. All summaries of an output add up: `cargo test` prints one per target, a workspace
 * one per package. An expected failure counts as skipped, so that marking a test as such is noticed.
 */
const closings: readonly Closing[] = [
  // jest: Tests:       1 failed, 1 skipped, 2 passed, 4 total
  {
    pattern: pattern(`^Tests: {1,20}((?:\\d+ [a-z]+, ){0,8})${number} total$`),
    count: ([parts = '']) => {
      const tally = parts === '' ? () => 0 : readTally(parts.replace(/, $/, ''), ', ');
      if (tally === null) return null;
      const failed = tally('failed');
      return { run: failed + tally('passed'), failed, skipped: tally('skipped', 'todo', 'pending', 'disabled') };
    },
  },
  // jest and vitest with passWithNoTests
  { pattern: /^No test(?:s| files) found, exiting with code \d$/, count: () => countOf(0, 0, 0) },
  // pytest: ==== 1 failed, 2 passed, 2 skipped, 2 xfailed in 0.88s ====, and without the bars with -q
  {
    pattern: pattern(`^(?:=+ )?([\\w, ]{4,200}) in ${seconds}(?: \\([\\d:, days]+\\))?(?: =+)?$`),
    count: ([parts = '']) => {
      if (parts === 'no tests ran') return countOf(0, 0, 0);
      const tally = readTally(parts, ', ');
      const known = ['passed', 'failed', 'skipped', 'error', 'errors', 'xfailed', 'xpassed', 'deselected'];
      if (tally === null || !known.some((word) => parts.includes(` ${word}`))) return null;
      const failed = tally('failed');
      const skipped = tally('skipped', 'xfailed', 'xpassed', 'deselected');
      return { run: failed + tally('passed'), failed: failed + tally('error', 'errors'), skipped };
    },
  },
  // cargo: test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
  {
    pattern: pattern(`^test result: (?:ok|FAILED)\\. ${number} passed; ${number} failed; ${number} ignored;`),
    count: ([passed, failed, ignored]) => countOf(sum(passed, failed, ignored), sum(failed), sum(ignored)),
  },
  // nextest:      Summary [   0.005s] 3 tests run: 3 passed (1 slow), 1 skipped
  {
    pattern: pattern(`^ *Summary \\[ *${seconds}\\] ${number}(?:/\\d+)? tests? run: ${number} passed(.{0,200})$`),
    count: ([run, passed, rest = '']) => {
      const skipped = sum(new RegExp(`, ${number} skipped`).exec(rest)?.[1]);
      return { run: sum(run), failed: Math.max(0, sum(run) - sum(passed)), skipped };
    },
  },
  // rspec, minitest, test-unit, ExUnit, bats: 5 examples, 1 failure, 1 pending
  {
    pattern: /^(\d+ (?:tests?|runs?|examples?|doctests?|properties|property), [\w, ]{1,200})$/,
    count: ([parts = '']) => {
      const tally = readTally(parts, ', ');
      if (tally === null || !/ failures?\b/.test(parts)) return null;
      const all = tally('test', 'tests', 'run', 'runs', 'example', 'examples', 'doctest', 'doctests');
      const failed = tally('failure', 'failures', 'error', 'errors', 'errors occurred outside of examples');
      const skipped = tally('skipped', 'skip', 'skips', 'pending', 'pendings', 'omissions', 'excluded');
      return countOf(all + tally('property', 'properties'), failed, skipped);
    },
  },
  // phpunit and JUnit's own runner: OK (3 tests, 5 assertions)
  {
    pattern: pattern(`^OK \\(${number} tests?(?:, \\d+ assertions?)?\\)$`),
    count: ([all]) => countOf(sum(all), 0, 0),
  },
  { pattern: /^No tests executed!$/, count: () => countOf(0, 0, 0) },
  // phpunit: Tests: 3, Assertions: 5, Failures: 1, Skipped: 1.
  {
    pattern: pattern(`^Tests: ${number}, Assertions: \\d+((?:, [A-Z][A-Za-z ]{1,30}: \\d+){0,12})\\.$`),
    count: ([all, rest = '']) => {
      const named = (word: string) => sum(new RegExp(`, ${word}: ${number}(?:,|$)`).exec(rest)?.[1]);
      return countOf(sum(all), named('Failures') + named('Errors'), named('Skipped') + named('Incomplete'));
    },
  },
  // pest:   Tests:    1 failed, 2 passed (5 assertions)
  {
    pattern: /^ *Tests: {2,20}([\w, ]{4,200}) \(\d+ assertions?\)$/,
    count: ([parts = '']) => {
      const tally = readTally(parts, ', ');
      if (tally === null) return null;
      const failed = tally('failed');
      return { run: failed + tally('passed'), failed, skipped: tally('skipped', 'todos', 'todo', 'incomplete') };
    },
  },
  // surefire: [INFO] Tests run: 10, Failures: 0, Errors: 0, Skipped: 1; a class's own line has a time and is already in
  // the sum
  {
    pattern: pattern(
      `^(?:\\[[A-Z]+\\] )?Tests run: ${number}, +Failures: ${number}, +Errors: ${number}, +Skipped: ${number}(?:, Flakes: \\d+)?$`,
    ),
    count: ([all, failures, errors, skipped]) => countOf(sum(all), sum(failures, errors), sum(skipped)),
  },
  // prove: Files=3, Tests=24,  0 wallclock secs
  { pattern: pattern(`^Files=\\d+, Tests=${number}, `), count: ([all]) => countOf(sum(all), 0, 0) },
  // ctest: 100% tests passed, 0 tests failed out of 3
  {
    pattern: pattern(`^\\d{1,3}% tests passed, ${number} tests? failed out of ${number}$`),
    count: ([failed, all]) => countOf(sum(all), sum(failed), 0),
  },
];

function sum(...digits: (string | undefined)[]): number {
  return digits.reduce((total, each) => total + Number(each ?? 0), 0);
}

/** Reads the one-line summaries. */
export function createClosingReader(): Runner {
  let total: TestCount | null = null;
  return {
    starts: /[\dTN=tSFO[]/,
    read: (line) => {
      for (const { pattern, count } of closings) {
        const groups = pattern.exec(line);
        const found = groups === null ? null : count(groups.slice(1));
        if (found === null) continue;
        total = addCounts(total, found);
        return true;
      }
      return false;
    },
    total: () => total,
  };
}
