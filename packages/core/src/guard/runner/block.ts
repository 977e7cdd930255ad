import type { TestCount } from '@pawl/schema/change';
import type { Runner } from './runner.ts';
import { addCounts, countOf, number, readTally } from './runner.ts';

const exactly = (source: string) => new RegExp(`^${source}$`);

/** vitest: `Tests  1 failed | 2 passed | 1 skipped | 1 todo (5)`, in the line after that of the test files. */
export function createVitestReader(): Runner {
  let total: TestCount | null = null;
  let isClosing = false;
  return {
    starts: /T/,
    read: (line) => {
      if (/^ *Test Files {2}./.test(line)) return (isClosing = true);
      if (!isClosing) return false;
      const [, text] = /^ *Tests {2}(\S.{0,300})$/.exec(line) ?? [];
      if (text === undefined) return false;
      isClosing = false;
      const tally = text === 'no tests' ? () => 0 : readTally(text.replace(/ \(\d+\)$/, ''), ' | ');
      if (tally === null) return false;
      const failed = tally('failed');
      const run = failed + tally('passed', 'expected fail');
      total = addCounts(total, { run, failed, skipped: tally('skipped', 'todo') });
      return true;
    },
    total: () => total,
  };
}

/** mocha: `3 passing (10ms)`, and in the next lines `1 pending` and `1 failing`. */
export function createMochaReader(): Runner {
  const passing = exactly(` *${number} passing \\(.{1,20}\\)`);
  const other = exactly(` *${number} (pending|failing)`);
  let total: TestCount | null = null;
  let isOpen = false;
  return {
    starts: /\d/,
    read: (line) => {
      const [, digits] = passing.exec(line) ?? [];
      if (digits !== undefined) {
        total = addCounts(total, countOf(Number(digits), 0, 0));
        return (isOpen = true);
      }
      const [, more, word] = (isOpen && other.exec(line)) || [];
      isOpen &&= line.trim() === '' || more !== undefined;
      if (more === undefined) return false;
      const count = Number(more);
      total = addCounts(total, {
        run: 0,
        failed: 0,
        skipped: 0,
        ...(word === 'pending' ? { skipped: count } : { run: count, failed: count }),
      });
      return true;
    },
    total: () => total,
  };
}

/**
 * node --test and tape: `# tests 5`, `# pass 2`, `# fail 1` …, one per line. For other TAP output, counts the `ok 1 -
 * name` lines.
 */
export function createTapReader(): Runner {
  const fact = exactly(`[#ℹ] (tests|suites|pass|fail|cancelled|skipped|todo) {1,4}${number}`);
  const point = /^(not )?ok \d{1,7}(?: .*)?$/;
  let total: TestCount | null = null;
  let points: TestCount | null = null;
  /** The block being read: the number for each word. */
  let block: Map<string, number> | null = null;
  const close = () => {
    const value = (word: string) => block?.get(word) ?? 0;
    if (block?.has('pass')) {
      const failed = value('fail') + value('cancelled');
      total = addCounts(total, { run: value('pass') + failed, failed, skipped: value('skipped') + value('todo') });
    }
    block = null;
  };
  return {
    starts: /[#ℹno]/,
    read: (line) => {
      const [, word, digits] = fact.exec(line) ?? [];
      if (word !== undefined) {
        if (word === 'tests') {
          close();
          block = new Map();
        }
        block?.set(word, Number(digits));
        return block !== null;
      }
      if (line.trim() !== '') close();
      const [isPoint, not] = point.exec(line) ?? [];
      if (isPoint === undefined) return false;
      const isSkipped = / # (?:skip|todo)\b/i.test(line);
      points = addCounts(points, countOf(1, not !== undefined && !isSkipped ? 1 : 0, isSkipped ? 1 : 0));
      return true;
    },
    total: () => {
      close();
      return total ?? points;
    },
  };
}

/** A runner that prints one number per line, with a known last line. */
function createListReader(given: {
  starts: RegExp;
  item: RegExp;
  /** The line that ends the list. */
  end: RegExp;
  count: (value: (...words: string[]) => number) => TestCount;
}): Runner {
  let total: TestCount | null = null;
  let items = new Map<string, number>();
  return {
    starts: given.starts,
    read: (line) => {
      const [, digits, word = ''] = given.item.exec(line) ?? [];
      if (digits !== undefined) items.set(word, Number(digits));
      if (!given.end.test(line)) return digits !== undefined;
      const value = (...words: string[]) => words.reduce((sum, each) => sum + (items.get(each) ?? 0), 0);
      total = addCounts(total, given.count(value));
      items = new Map();
      return true;
    },
    total: () => total,
  };
}

/** bun: ` 3 pass`, ` 1 skip`, ` 0 fail`, and then `Ran 4 tests across 2 files.` */
export function createBunReader(): Runner {
  return createListReader({
    starts: /[\dR]/,
    item: exactly(` *${number} (pass|skip|todo|fail)`),
    end: /^Ran \d{1,7} tests? across \d+ files?\./,
    count: (value) => ({ run: value('pass', 'fail'), failed: value('fail'), skipped: value('skip', 'todo') }),
  });
}

/** playwright: `  1 failed`, `  2 skipped`, and last `  3 passed (4.2s)`. */
export function createPlaywrightReader(): Runner {
  const duration = String.raw`\([\d.]{1,12}(?:ms|s|m|h)\)`;
  return createListReader({
    starts: /\d/,
    item: exactly(` {2}${number} (failed|flaky|skipped|did not run|interrupted|passed)(?: ${duration})?`),
    end: exactly(` {2}\\d{1,7} passed ${duration}`),
    count: (value) => ({
      run: value('passed', 'failed', 'flaky', 'interrupted'),
      failed: value('failed', 'interrupted'),
      skipped: value('skipped', 'did not run'),
    }),
  });
}

/** ava: `2 tests passed`, `1 test failed`, `1 test skipped`, one per line. */
export function createAvaReader(): Runner {
  const closing = exactly(` *${number} (?:tests?|known failures?)(?: (passed|failed|skipped|todo))?`);
  let total: TestCount | null = null;
  return {
    starts: /\d/,
    read: (line) => {
      const [, digits, word = 'skipped'] = closing.exec(line) ?? [];
      if (digits === undefined || /^ *\d+ tests?$/.test(line)) return false;
      const count = Number(digits);
      const isRun = word === 'passed' || word === 'failed';
      total = addCounts(total, {
        run: isRun ? count : 0,
        failed: word === 'failed' ? count : 0,
        skipped: isRun ? 0 : count,
      });
      return true;
    },
    total: () => total,
  };
}

/** tap: `Asserts:  2 pass  0 fail  2 of 2 complete`, and earlier `Asserts:  2 passed, 1 failed, of 3`. */
export function createAssertsReader(): Runner {
  let total: TestCount | null = null;
  return {
    starts: /A/,
    read: (line) => {
      const [, text] = /^ *Asserts: {1,10}(.{1,200})$/.exec(line) ?? [];
      if (text === undefined) return false;
      const named = (word: string) => Number(new RegExp(`\\b${number} ${word}`).exec(text)?.[1] ?? 0);
      const failed = named('fail');
      const skipped = named('skip') + named('todo');
      total = addCounts(total, { run: named('pass') + failed, failed, skipped });
      return true;
    },
    total: () => total,
  };
}
