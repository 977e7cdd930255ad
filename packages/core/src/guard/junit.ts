import type { TestCount } from '@pawl/schema/change';
import { gateLimits } from './gate-limit.ts';
import { addCounts, countOf } from './runner/runner.ts';

/** The counts of one suite element. */
type Suite = { tests: number | null; failed: number | null; skipped: number | null; parts: TestCount | null };

/**
 * Counts the tests in JUnit files; null if there are none. Counts test cases where listed, else the numbers of the
 * outermost suites. Never expands entities and skips text, so the cost is linear.
 */
export function countJUnit(xml: readonly string[]): TestCount | null {
  return xml.reduce<TestCount | null>((sum, text) => addCounts(sum, countReport(text)), null);
}

function countReport(xml: string): TestCount | null {
  let cases: TestCount | null = null;
  let state: 'none' | 'passed' | 'failed' | 'skipped' = 'none';
  const suites: Suite[] = [emptySuite({})];
  const closeCase = () => {
    if (state !== 'none') cases = addCounts(cases, countOf(1, state === 'failed' ? 1 : 0, state === 'skipped' ? 1 : 0));
    state = 'none';
  };
  for (const { name, isEnd, isEmpty, attributes } of readTags(xml)) {
    if (name === 'testsuite' || name === 'testsuites') {
      closeCase();
      if (!isEnd && suites.length <= gateLimits.suiteDepth) suites.push(emptySuite(attributes()));
      if ((isEnd || isEmpty) && suites.length > 1) closeSuite(suites);
    } else if (name === 'testcase') {
      closeCase();
      if (!isEnd) state = stateOf(attributes());
      if (isEmpty) closeCase();
    } else if (state !== 'none' && !isEnd) {
      if (name === 'skipped') state = 'skipped';
      else if ((name === 'failure' || name === 'error') && state !== 'skipped') state = 'failed';
    }
  }
  closeCase();
  while (suites.length > 1) closeSuite(suites);
  return cases ?? suites[0]?.parts ?? null;
}

type Attributes = Record<string, string>;

/** Some reports mark a skipped test by an attribute instead of an element. */
function stateOf({ status, result }: Attributes): 'passed' | 'skipped' {
  const words = [status, result].map((word) => word?.toLowerCase());
  return words.some((word) => word !== undefined && /^(?:skipped|notrun|disabled|suppressed)$/.test(word))
    ? 'skipped'
    : 'passed';
}

function emptySuite(attributes: Attributes): Suite {
  const { tests, failures, errors, skipped, disabled, ignored } = attributes;
  const sum = (...texts: (string | undefined)[]) => {
    const numbers = texts.map(numberOf).filter((each) => each !== null);
    return numbers.length === 0 ? null : numbers.reduce((one, other) => one + other, 0);
  };
  return {
    tests: numberOf(tests),
    failed: sum(failures, errors),
    skipped: sum(skipped, disabled, ignored),
    parts: null,
  };
}

/** A suite's own numbers win over the sum of its children, so nested suites are not counted twice. */
function closeSuite(suites: Suite[]): void {
  const suite = suites.pop();
  const outer = suites.at(-1);
  if (suite === undefined || outer === undefined) return;
  const { tests, parts } = suite;
  const failed = suite.failed ?? parts?.failed ?? 0;
  const skipped = suite.skipped ?? parts?.skipped ?? 0;
  outer.parts = addCounts(outer.parts, tests === null ? parts : countOf(tests, failed, skipped));
}

function numberOf(text: string | undefined): number | null {
  return text !== undefined && text.length <= gateLimits.countDigits && /^\d+$/.test(text) ? Number(text) : null;
}

type Tag = { name: string; isEnd: boolean; isEmpty: boolean; attributes: () => Attributes };

/** Yields the tags of a document; skips comments, CDATA, declarations and text. */
function* readTags(xml: string): Generator<Tag> {
  for (let at = xml.indexOf('<'); at !== -1; at = xml.indexOf('<', at)) {
    const end = endOfMarkup(xml, at);
    if (end === -1) return;
    const inner = xml.slice(at + 1, end);
    at = end + 1;
    const [, slash = '', name] = /^(\/?)([A-Za-z][\w.-]{0,40})(?=[\s/]|$)/.exec(inner) ?? [];
    if (name === undefined) continue;
    yield { name, isEnd: slash !== '', isEmpty: inner.endsWith('/'), attributes: () => readAttributes(inner) };
  }
}

/** The last character of the markup that starts here; -1 if it never ends. */
function endOfMarkup(xml: string, at: number): number {
  for (const [begin, finish] of [
    ['<!--', '-->'],
    ['<![CDATA[', ']]>'],
    ['<?', '?>'],
  ] as const) {
    if (!xml.startsWith(begin, at)) continue;
    const end = xml.indexOf(finish, at + begin.length);
    return end === -1 ? -1 : end + finish.length - 1;
  }
  if (xml.startsWith('<!', at)) return endOfDeclaration(xml, at);
  return endOfTag(xml, at);
}

/** A declaration may contain others in brackets. */
function endOfDeclaration(xml: string, at: number): number {
  const end = xml.indexOf('>', at);
  const bracket = end === -1 ? -1 : xml.slice(at, end).indexOf('[');
  if (bracket === -1) return end;
  const close = xml.indexOf(']', at + bracket);
  return close === -1 ? -1 : xml.indexOf('>', close);
}

/** Inside quotes, `>` is text. */
function endOfTag(xml: string, at: number): number {
  const mark = /["'>]/g;
  mark.lastIndex = at;
  for (let found = mark.exec(xml); found !== null; found = mark.exec(xml)) {
    if (found[0] === '>') return found.index;
    const close = xml.indexOf(found[0], found.index + 1);
    if (close === -1) return -1;
    mark.lastIndex = close + 1;
  }
  return -1;
}

const known = new Set(['tests', 'failures', 'errors', 'skipped', 'disabled', 'ignored', 'status', 'result']);

/** Reads attributes in order, so that nothing inside a value is taken for another attribute. */
function readAttributes(tag: string): Attributes {
  const attributes: Attributes = {};
  const attribute = /\s*([^\s=]{1,100})\s*=\s*(?:"([^"]*)"|'([^']*)')/y;
  attribute.lastIndex = tag.search(/\s|$/);
  for (let found = attribute.exec(tag); found !== null; found = attribute.exec(tag)) {
    const [, name = '', double, single] = found;
    if (known.has(name)) attributes[name] ??= double ?? single ?? '';
  }
  return attributes;
}
