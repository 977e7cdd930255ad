import type { TestCount } from '@pawl/schema/change';
import { gateLimits } from '../gate-limit.ts';

/** Reads what one program prints, line by line, and knows the closing words of one kind of test runner. */
export type Runner = {
  /** What its lines begin with, spaces aside: a line that begins otherwise is not for it, and costs nothing. */
  starts: RegExp;
  /** True when the line was one of the runner's. */
  read(line: string): boolean;
  /** What all closing words so far add up to; null when there were none. */
  total(): TestCount | null;
};

/** A number as runners print it. Longer ones are no counts of tests, and so the line that has one says nothing. */
export const number = String.raw`(\d{1,${gateLimits.countDigits}})`;

/** Two counts as one. */
export function addCounts(one: TestCount | null, other: TestCount | null): TestCount | null {
  if (one === null || other === null) return one ?? other;
  return { run: one.run + other.run, failed: one.failed + other.failed, skipped: one.skipped + other.skipped };
}

/** A count in which the tests that were skipped are among `all`. */
export function countOf(all: number, failed: number, skipped: number): TestCount {
  return { run: Math.max(0, all - skipped), failed, skipped };
}

/** Numbers by the words behind them, such as `3 passed, 1 skipped`; null when the text is anything else. */
export type Tally = (...words: string[]) => number;

const piece = new RegExp(`^${number} ([A-Za-z][A-Za-z ]{0,40})$`);

/** Takes a list of numbers with words apart. */
export function readTally(text: string, separator: string): Tally | null {
  const numbers = new Map<string, number>();
  for (const part of text.split(separator)) {
    const [, digits, word] = piece.exec(part.trim()) ?? [];
    if (digits === undefined || word === undefined) return null;
    numbers.set(word, (numbers.get(word) ?? 0) + Number(digits));
  }
  return (...words) => words.reduce((sum, word) => sum + (numbers.get(word) ?? 0), 0);
}
