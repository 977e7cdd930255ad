import { bracketEnd, codeOnly } from './code-text.ts';
import { gateLimits } from './gate-limit.ts';
import { blockBelow, indentOf, testBodies } from './test-bodies.ts';
import type { Language } from './test-files.ts';
import { isTestFile, languageOf } from './test-files.ts';
import { assertions } from './test-words.ts';

export type TestStrength = { name: string; assertions: number; isEmpty: boolean };

/** How much the tests of a file assert, judging by its text. */
export type FileStrength = {
  tests: TestStrength[];
  /** Assertions whose failure is not dropped. */
  assertions: number;
  /** Assertions whose failure is dropped: in a `try` with a `catch` that ignores it. */
  swallowed: number;
  lines: string[];
};

/** Measures the tests of a file; null if it cannot contain any. */
export function measureTests(path: string, text: string): FileStrength | null {
  const language = languageOf(path);
  if (language === null) return null;
  const code = codeOnly(text, language);
  const bodies = testBodies(text, code, language);
  const tests = bodies.map(({ name, body }) => ({
    name,
    assertions: countAssertions(body, language),
    isEmpty: isEmpty(body),
  }));
  // In a file of code under test, only tests count.
  const counted = isTestFile(path) ? code : bodies.map(({ body }) => body).join('\n');
  const swallowed = countSwallowed(counted, language);
  const lines = counted
    .split('\n')
    .map((line) => ({ line, count: line === '' ? 0 : countAssertions(line, language) }))
    .filter(({ count }) => count > 0);
  return {
    tests,
    assertions: lines.reduce((sum, { count }) => sum + count, 0) - swallowed,
    swallowed,
    lines: lines.map(({ line }) => line.trim()),
  };
}

/** An assertion that always holds. */
const trivial = /^[^(\n]{0,60}\(?\s*(?:true|True|!0|!false|1)\s*\)|^\s*assert\s+(?:True|1)\s*$/;

const everyAssertion = Object.fromEntries(
  Object.entries(assertions).map(([language, pattern]) => [language, new RegExp(pattern, 'g')]),
) as Record<Language, RegExp>;

function countAssertions(code: string, language: Language): number {
  const pattern = everyAssertion[language];
  let count = 0;
  for (const line of code.split('\n')) {
    for (let at = 0; at < line.length; at += gateLimits.referenceLineCharacters) {
      const piece = line.slice(at, at + gateLimits.referenceLineCharacters);
      for (const { index } of piece.matchAll(pattern)) if (!trivial.test(piece.slice(index, index + 80))) count += 1;
    }
  }
  return count;
}

/** A body that does nothing, or returns first. */
function isEmpty(body: string): boolean {
  return /^[\s;"'`]*(?:(?:return|pass|\.\.\.|end)[\s;"'`]*)?$/.test(body) || /^\s*return[ \t]*(?:;|\n)/.test(body);
}

/** Words by which a handler reports the failure. */
const tells = /\b(?:throw|raise|reraise|fail|reject|done|flunk|panic|exit|exitCode)\b/;

function isDropped(handler: string, language: Language): boolean {
  return !tells.test(handler) && countAssertions(handler, language) === 0;
}

function countSwallowed(code: string, language: Language): number {
  if (language === 'python')
    return inBlocks(code, language, /^\s*try\s*:/, /^\s*except\b/) + suppressed(code, language);
  if (language === 'ruby') return inBlocks(code, language, /^\s*begin\b/, /^\s*rescue\b/);
  if (language === 'elixir') return inBlocks(code, language, /^\s*try\s+do\b/, /^\s*rescue\b/);
  let count = 0;
  const tries = [...code.matchAll(/\btry\s{0,20}\{/g)].slice(0, gateLimits.testsInFile);
  let room = 4 * code.length;
  for (const { index, 0: head } of tries) {
    if (room < 0) break;
    const open = index + head.length - 1;
    const end = bracketEnd(code, open);
    room -= end - open;
    const [handler] = /^\s{0,200}catch\s{0,20}(?:\([^)]{0,300}\))?\s{0,20}\{/.exec(code.slice(end, end + 600)) ?? [];
    if (handler === undefined) continue;
    const start = end + handler.length - 1;
    if (isDropped(code.slice(start, bracketEnd(code, start)), language))
      count += countAssertions(code.slice(open, end), language);
  }
  return count + (language === 'script' ? droppedRejections(code) : 0);
}

const emptyCatch =
  /\.catch\(\s{0,20}(?:\(?\w{0,40}\)?\s{0,20}=>\s{0,20}(?:\{\s{0,200}\}|undefined|null|void 0|0)|function\s{0,20}\w{0,40}\(\w{0,40}\)\s{0,20}\{\s{0,200}\}|\w*noop\w*)\s{0,20},?\s{0,20}\)/g;

/** `expect(…).resolves.toBe(…).catch(() => {})`, in one statement. */
function droppedRejections(code: string): number {
  let count = 0;
  for (const { index } of code.matchAll(emptyCatch)) {
    const before = code.slice(Math.max(0, index - gateLimits.lineCharacters), index);
    const statement = before.slice(before.lastIndexOf(';') + 1);
    if (countAssertions(statement, 'script') > 0) count += 1;
  }
  return count;
}

/** Counts assertions in a block that is followed, at the same indentation, by a handler that drops the failure. */
function inBlocks(code: string, language: Language, opener: RegExp, handler: RegExp): number {
  const lines = code.split('\n');
  let count = 0;
  for (let no = 0; no < lines.length; no += 1) {
    const line = lines[no] ?? '';
    if (!opener.test(line)) continue;
    const depth = indentOf(line);
    let next = no + 1;
    while (next < lines.length && ((lines[next] ?? '').trim() === '' || indentOf(lines[next] ?? '') > depth)) next += 1;
    const isHandled = handler.test(lines[next] ?? '') && isDropped(blockBelow(lines, next), language);
    if (isHandled) count += countAssertions(blockBelow(lines, no), language);
  }
  return count;
}

function suppressed(code: string, language: Language): number {
  const lines = code.split('\n');
  return lines.reduce((sum, line, no) => {
    return /^\s*with\s+(?:contextlib\.)?suppress\(/.test(line)
      ? sum + countAssertions(blockBelow(lines, no), language)
      : sum;
  }, 0);
}
