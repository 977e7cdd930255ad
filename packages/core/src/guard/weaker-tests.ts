import type { Finding } from '@pawl/schema/change';
import type { FileStrength, TestStrength } from './test-strength.ts';

/** A test file before and after a change; null if it is missing, or has no tests. */
export type TestPair = { path: string; before: FileStrength | null; after: FileStrength | null };

const nothing: FileStrength = { tests: [], assertions: 0, swallowed: 0, lines: [] };

/**
 * Finds tests that assert less after a change, by their text alone. Removed tests are not reported if the runner's own
 * count shows them (`isCounted`). A new file weakens nothing.
 */
export function weakerTests(pairs: readonly TestPair[], isCounted: boolean): Finding[] {
  const findings = pairs.flatMap((pair) => weakerFile(pair, pairs));
  if (findings.length > 0) return findings;
  return weakerAltogether(pairs, isCounted);
}

function weakerFile(pair: TestPair, pairs: readonly TestPair[]): Finding[] {
  const { path, before, after } = pair;
  if (before === null || after === null) return [];
  const had = before.tests.length + before.assertions + before.swallowed;
  const hasNow = after.tests.length + after.assertions + after.swallowed;
  const movedAway = had > 0 && hasNow === 0 && isElsewhere(pair, pairs);
  if (had > 0 && hasNow === 0 && !movedAway) {
    const tests = Math.max(1, before.tests.length);
    return [{ kind: 'test-emptied', detail: `${path}: no test is left in it`, tests }];
  }
  const emptied = emptiedTests(before, after);
  const findings: Finding[] = [];
  if (emptied.length > 0) {
    const names = emptied.slice(0, 3).map((name) => (name === '' ? 'a test' : `“${name.slice(0, 60)}”`));
    const more = emptied.length > names.length ? ` and ${emptied.length - names.length} more` : '';
    const detail = `${path}: the body of ${names.join(', ')}${more} is empty now`;
    findings.push({ kind: 'test-emptied', detail, tests: emptied.length });
  }
  const dropped = after.swallowed - before.swallowed;
  if (dropped > 0) {
    const detail = `${path}: the failure of ${dropped} assertion${dropped === 1 ? '' : 's'} is caught and dropped`;
    findings.push({ kind: 'failure-dropped', detail, tests: dropped });
  }
  const fewerHere = before.assertions - gone(before, after) - after.assertions;
  const lost = fewerHere > 0 && findings.length === 0 ? fewerHere - movedLines(pair, pairs) : 0;
  if (lost > 0) findings.push(fewer(path, before.assertions, after.assertions, lost));
  return findings;
}

/** Compares all test files of a change together, for tests that moved and files that were replaced. */
function weakerAltogether(pairs: readonly TestPair[], isCounted: boolean): Finding[] {
  const sum = (files: FileStrength[]): FileStrength => ({
    tests: files.flatMap(({ tests }) => tests),
    assertions: files.reduce((total, { assertions }) => total + assertions, 0),
    swallowed: 0,
    lines: [],
  });
  const before = sum(pairs.map((pair) => pair.before ?? nothing));
  const after = sum(pairs.map((pair) => pair.after ?? nothing));
  const lost = before.assertions - (isCounted ? gone(before, after) : 0) - after.assertions;
  if (lost <= 0) return [];
  return [fewer('all test files of the change', before.assertions, after.assertions, lost)];
}

function fewer(where: string, before: number, after: number, tests: number): Finding {
  return { kind: 'fewer-assertions', detail: `${where}: fewer assertions, ${before} before, ${after} now`, tests };
}

/** The assertions of removed tests, which show in the test count. */
function gone(before: FileStrength, after: FileStrength): number {
  const names = new Set(after.tests.map(({ name }) => name));
  const counts = before.tests.filter(({ name }) => !names.has(name)).map(({ assertions }) => assertions);
  const fewerTests = Math.max(0, before.tests.length - after.tests.length);
  return counts
    .toSorted((a, b) => b - a)
    .slice(0, fewerTests)
    .reduce((sum, count) => sum + count, 0);
}

/** Tests that lost their body, by name; plus as many renamed ones as the numbers with and without a body show. */
function emptiedTests(before: FileStrength, after: FileStrength): string[] {
  const full = new Set(before.tests.filter(({ isEmpty }) => !isEmpty).map(({ name }) => name));
  const empty = after.tests.filter(({ isEmpty }) => isEmpty).map(({ name }) => name);
  const named = empty.filter((name) => full.has(name) && !hasFull(after.tests, name));
  const count = (tests: TestStrength[], isWanted: boolean) =>
    tests.filter(({ isEmpty }) => isEmpty === isWanted).length;
  const more = count(after.tests, true) - count(before.tests, true);
  const less = count(before.tests, false) - count(after.tests, false);
  const renamed = Math.max(0, Math.min(more, less) - named.length);
  const known = new Set([...named, ...before.tests.filter(({ isEmpty }) => isEmpty).map(({ name }) => name)]);
  return [...named, ...empty.filter((name) => !known.has(name)).slice(0, renamed)];
}

function hasFull(tests: readonly TestStrength[], name: string): boolean {
  return tests.some((test) => test.name === name && !test.isEmpty);
}

/** Whether all tests of a file moved to other files of the change. */
function isElsewhere(pair: TestPair, pairs: readonly TestPair[]): boolean {
  const { before } = pair;
  const others = new Set(
    pairs.filter((each) => each !== pair).flatMap(({ after }) => after?.tests.map(({ name }) => name) ?? []),
  );
  return before !== null && before.tests.length > 0 && before.tests.every(({ name }) => others.has(name));
}

/** Lines with assertions that moved to another file of the change. */
function movedLines(pair: TestPair, pairs: readonly TestPair[]): number {
  const elsewhere = pairs
    .filter((each) => each !== pair)
    .flatMap(({ before, after }) => without(after?.lines ?? [], before?.lines ?? []));
  const left = without(pair.before?.lines ?? [], pair.after?.lines ?? []);
  return left.length - without(left, elsewhere).length;
}

/** Multiset difference. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = counts.get(line) ?? 0;
    counts.set(line, count - 1);
    return count <= 0;
  });
}
