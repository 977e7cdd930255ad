import type { TestCount } from '@pawl/schema/change';
import type { Runner } from './runner.ts';
import { addCounts, countOf, number } from './runner.ts';

/** unittest and runners built on it: `Ran 3 tests in 0.1s`, then `OK (skipped=1)` or `FAILED (failures=1)`. */
export function createUnittestReader(): Runner {
  const ran = new RegExp(`^Ran ${number} tests? in [\\d.]{1,20}s$`);
  let total: TestCount | null = null;
  let tests: number | null = null;
  return {
    starts: /[RFPNO]/,
    read: (line) => {
      const [, digits] = ran.exec(line) ?? [];
      if (digits !== undefined) {
        tests = Number(digits);
        return true;
      }
      const [isEnd, notes = ''] = /^(?:OK|FAILED|PASSED|NO TESTS RAN)(?: \((.{1,200})\))?$/.exec(line) ?? [];
      if (isEnd === undefined || tests === null) return false;
      const noted = (word: string) => Number(new RegExp(`(?:^|, )${word}=${number}(?:,|$)`).exec(notes)?.[1] ?? 0);
      const skipped = noted('skipped') + noted('skips') + noted('expected failures') + noted('expectedFailures');
      total = addCounts(total, countOf(tests, noted('failures') + noted('errors'), skipped));
      tests = null;
      return true;
    },
    total: () => total,
  };
}

/**
 * go test: with -v, counts the line of each test and subtest. Without it, counts packages: losing all tests of a
 * package shows, losing some does not. gotestsum prints one summary line.
 */
export function createGoReader(): Runner {
  const done = new RegExp(`^DONE (?:\\d+ runs?, )?${number} tests?((?:, \\d{1,7} [a-z]+){0,4}) in [\\d.]{1,20}s$`);
  const outcome = /^ *--- (PASS|FAIL|SKIP): \S/;
  const packageLine = /^(ok {2}|FAIL)\t\S+\t(?:[\d.]+s|\(cached\))(.*)$/;
  let packages: TestCount | null = null;
  let tests: TestCount | null = null;
  let sums: TestCount | null = null;
  let isVerbose = false;
  return {
    starts: /[-=DFo]/,
    read: (line) => {
      const [, all, rest = ''] = done.exec(line) ?? [];
      if (all !== undefined) {
        const noted = (word: string) => Number(new RegExp(`, (\\d+) ${word}`).exec(rest)?.[1] ?? 0);
        sums = addCounts(sums, countOf(Number(all), noted('failure') + noted('error'), noted('skipped')));
        return true;
      }
      if (/^=== RUN +\S/.test(line)) return (isVerbose = true);
      const [, how] = outcome.exec(line) ?? [];
      if (how !== undefined) {
        tests = addCounts(tests, countOf(1, how === 'FAIL' ? 1 : 0, how === 'SKIP' ? 1 : 0));
        return true;
      }
      const [, verdict, note = ''] = packageLine.exec(line) ?? [];
      if (verdict === undefined) return false;
      const isEmpty = note.includes('[no tests to run]');
      packages = addCounts(packages, countOf(isEmpty ? 0 : 1, verdict === 'FAIL' ? 1 : 0, 0));
      return true;
    },
    // Without -v, only failed tests have lines.
    total: () => sums ?? (isVerbose ? (tests ?? packages) : packages),
  };
}

/** deno: `ok | 3 passed (2 steps) | 0 failed | 1 ignored (10ms)`. */
export function createDenoReader(): Runner {
  const closing = new RegExp(`^(?:ok|FAILED) \\| ${number} passed(?: \\(.{1,40}\\))? \\| ${number} failed(.{0,200})$`);
  let total: TestCount | null = null;
  return {
    starts: /[oF]/,
    read: (line) => {
      const [, passed, failed, rest = ''] = closing.exec(line) ?? [];
      if (passed === undefined) return false;
      const ignored = Number(new RegExp(` ${number} ignored`).exec(rest)?.[1] ?? 0);
      total = addCounts(total, countOf(Number(passed) + Number(failed) + ignored, Number(failed), ignored));
      return true;
    },
    total: () => total,
  };
}

/** dotnet: `Passed!  - Failed: 0, Passed: 3, Skipped: 0, Total: 3` for each assembly, or one `Test summary:` for all. */
export function createDotnetReader(): Runner {
  const assembly = new RegExp(
    `^(?:Passed|Failed|Skipped)! +- +Failed: +${number}, Passed: +\\d+, Skipped: +${number}, Total: +${number}`,
  );
  const summary = new RegExp(
    `^ *Test summary: total: ${number}, failed: ${number}, succeeded: \\d+, skipped: ${number}`,
  );
  let assemblies: TestCount | null = null;
  let sums: TestCount | null = null;
  return {
    starts: /[PFST]/,
    read: (line) => {
      const one = assembly.exec(line);
      if (one !== null) assemblies = addCounts(assemblies, countOf(Number(one[3]), Number(one[1]), Number(one[2])));
      const all = summary.exec(line);
      if (all !== null) sums = addCounts(sums, countOf(Number(all[1]), Number(all[2]), Number(all[3])));
      return one !== null || all !== null;
    },
    total: () => assemblies ?? sums,
  };
}

/** gradle: `Suite > test() PASSED` for each test if the project enables it, and a sum if some fail. */
export function createGradleReader(): Runner {
  const sum = new RegExp(`^${number} tests? completed(?:, ${number} failed)?(?:, ${number} skipped)?$`);
  let tests: TestCount | null = null;
  let sums: TestCount | null = null;
  return {
    starts: /\S/,
    read: (line) => {
      const all = sum.exec(line);
      if (all !== null) {
        sums = addCounts(sums, countOf(Number(all[1]), Number(all[2] ?? 0), Number(all[3] ?? 0)));
        return true;
      }
      const [, how] = / (PASSED|FAILED|SKIPPED)$/.exec(line) ?? [];
      if (how === undefined || !/^\S.{0,400} > ./.test(line)) return false;
      tests = addCounts(tests, countOf(1, how === 'FAILED' ? 1 : 0, how === 'SKIPPED' ? 1 : 0));
      return true;
    },
    total: () => tests ?? sums,
  };
}

/** GoogleTest: `[==========] 5 tests from 2 test suites ran.`, and `[  SKIPPED ] 1 test` in the list below it. */
export function createGoogleTestReader(): Runner {
  const ran = new RegExp(`^\\[=+\\] ${number} tests? from \\d+ test (?:suites?|cases?) ran\\.`);
  const part = new RegExp(`^\\[ *(FAILED|SKIPPED) *\\] ${number} tests?, listed below:$`);
  let total: TestCount | null = null;
  return {
    starts: /\[/,
    read: (line) => {
      const [, all] = ran.exec(line) ?? [];
      if (all !== undefined) total = addCounts(total, countOf(Number(all), 0, 0));
      const [, how, digits] = (total !== null && part.exec(line)) || [];
      const count = Number(digits ?? 0);
      if (how === 'FAILED') total = addCounts(total, { run: 0, failed: count, skipped: 0 });
      if (how === 'SKIPPED') total = addCounts(total, { run: -count, failed: 0, skipped: count });
      return all !== undefined || how !== undefined;
    },
    total: () => (total === null ? null : { ...total, run: Math.max(0, total.run) }),
  };
}
