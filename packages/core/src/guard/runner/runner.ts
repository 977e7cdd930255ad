import type { TestCount } from '@pawl/schema/change';
import { gateLimits } from '../gate-limit.ts';

/** Recognises the summary of one kind of test runner in a program's output, line by line. */
export type Runner = {
  /** First characters of its lines, after leading spaces; other lines are skipped cheaply. */
  starts: RegExp;
  /** True when the line was one of the runner's. */
  read(line: string): boolean;
  /** The sum of all summaries so far; null if there was none. */
  total(): TestCount | null;
};

/** A number as runners print it. A longer one is not a test count, so its line is ignored. */
export const number = String.raw`(\d{1,${gateLimits.countDigits}})`;

export function addCounts(one: TestCount | null, other: TestCount | null): TestCount | null {
  if (one === null || other === null) return one ?? other;
  return { run: one.run + other.run, failed: one.failed + other.failed, skipped: one.skipped + other.skipped };
}

/** Makes a count; `all` includes skipped tests. */
export function countOf(all: number, failed: number, skipped: number): TestCount {
  return { run: Math.max(0, all - skipped), failed, skipped };
}

/** Looks up numbers by the word after them, as in `3 passed, 1 skipped`. */
export type Tally = (...words: string[]) => number;

const piece = new RegExp(`^${number} ([A-Za-z][A-Za-z ]{0,40})$`);

/** Parses a list of numbers with words; null for any other text. */
export function readTally(text: string, separator: string): Tally | null {
  const numbers = new Map<string, number>();
  for (const part of text.split(separator)) {
    const [, digits, word] = piece.exec(part.trim()) ?? [];
    if (digits === undefined || word === undefined) return null;
    numbers.set(word, (numbers.get(word) ?? 0) + Number(digits));
  }
  return (...words) => words.reduce((sum, word) => sum + (numbers.get(word) ?? 0), 0);
}
