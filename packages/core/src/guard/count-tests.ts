import type { TestCount } from '@pawl/schema/change';
import { gateLimits } from './gate-limit.ts';
import {
  createAssertsReader,
  createAvaReader,
  createBunReader,
  createMochaReader,
  createPlaywrightReader,
  createTapReader,
  createVitestReader,
} from './runner/block.ts';
import { createClosingReader } from './runner/closing.ts';
import {
  createDenoReader,
  createDotnetReader,
  createGoogleTestReader,
  createGoReader,
  createGradleReader,
  createUnittestReader,
} from './runner/family.ts';
import { addCounts, type Runner } from './runner/runner.ts';

/** Counts tests in streamed output, in constant memory. */
export type TestCounter = { read(text: string): void; total(): TestCount | null };

/**
 * Counts the tests that ran, by the runners' summaries; null if there is none. Several summaries add up (packages of a
 * workspace, or commands in sequence), so tests removed from any of them lower the sum.
 */
export function countTests(text: string): TestCount | null {
  const counter = createTestCounter();
  counter.read(text);
  return counter.total();
}

/** Counts tests in streamed output; lines may be split anywhere. */
export function createTestCounter(): TestCounter {
  const own = createReader();
  const others = new Map<string, Reader>();
  let rest = '';
  const readLine = (raw: string) => {
    if (raw.length < shortest || raw.length > gateLimits.closingCharacters || !mayClose.test(raw)) return;
    const line = visibleText(raw);
    if (own.read(line)) return;
    const [, prefix, words] = prefixed.exec(line) ?? [];
    if (prefix === undefined || words === undefined) return;
    if (!others.has(prefix) && others.size < gateLimits.prefixes) others.set(prefix, createReader());
    others.get(prefix)?.read(words);
  };
  return {
    read: (text) => {
      const lines = `${rest}${text}`.split('\n');
      rest = (lines.pop() ?? '').slice(0, gateLimits.closingCharacters * 2);
      for (const line of lines) readLine(line);
    },
    total: () => {
      readLine(rest);
      rest = '';
      return [own, ...others.values()].reduce<TestCount | null>((sum, each) => addCounts(sum, each.total()), null);
    },
  };
}

/** Cheap filter before all patterns: every summary line has one of these. */
const mayClose = /test|pass|fail|skip|todo|pending|cancel|flaky|ok|runs?,|example|assert|run|ran |suites/i;
const shortest = 'OK'.length;

/** Prefixes that task runners put before each line: `web:test: `, `packages/a test: `, `[a]: `, `[0] `. */
const prefixed = /^(\[[^\]\s]{1,80}\]:?|[@\w./-]{1,80}(?:[ :#][\w:.-]{1,40})?:) (.*)$/;

type Reader = Omit<Runner, 'starts'>;

/** Reads the lines of one program, from any runner. */
function createReader(): Reader {
  const runners = [
    createVitestReader(),
    createClosingReader(),
    createTapReader(),
    createMochaReader(),
    createUnittestReader(),
    createGoReader(),
    createBunReader(),
    createDenoReader(),
    createPlaywrightReader(),
    createAvaReader(),
    createAssertsReader(),
    createDotnetReader(),
    createGradleReader(),
    createGoogleTestReader(),
  ];
  const byStart = new Map<string, Runner[]>();
  const runnersFor = (start: string) => {
    const known = byStart.get(start);
    if (known !== undefined) return known;
    const found = runners.filter(({ starts }) => starts.test(start));
    byStart.set(start, found);
    return found;
  };
  return {
    read: (line) => {
      let isKnown = false;
      // A line of one runner may end the block of another, so each of them sees it.
      for (const each of runnersFor(line.trimStart().charAt(0))) isKnown = each.read(line) || isKnown;
      return isKnown;
    },
    total: () => runners.reduce<TestCount | null>((sum, each) => addCounts(sum, each.total()), null),
  };
}

// oxlint-disable-next-line no-control-regex
const escapes = /\u001b(?:\[[0-9;:?]{0,60}[A-Za-z]|\][^\u0007\u001b]{0,500}(?:\u0007|\u001b\\)|[()][A-Z0-9])/g;

/** Renders a line as a terminal would: no colours, only the text after the last carriage return. */
function visibleText(line: string): string {
  const text = line.includes('\u001b') ? line.replaceAll(escapes, '') : line;
  const trimmed = text.trimEnd();
  return trimmed.slice(trimmed.lastIndexOf('\r') + 1);
}
