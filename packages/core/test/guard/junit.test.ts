import { countJUnit } from '@pawl/core/guard/junit';
import { expect, test } from 'vitest';

const cases = `
  <testcase classname="a" name="one"/>
  <testcase classname="a" name="two"><skipped message="not today"/></testcase>
  <testcase classname="a" name="three"><failure message="1 &lt; 2">Expected > &bomb; <![CDATA[<testcase/>]]></failure></testcase>
  <testcase classname="a" name="four"><error/></testcase>
  <testcase classname="a" name="five"><system-out>ok</system-out></testcase>`;

test('counts test cases, with failed and skipped ones', () => {
  const report = `<?xml version="1.0"?><testsuites tests="99"><testsuite tests="5" failures="1">${cases}</testsuite></testsuites>`;
  expect(countJUnit([report])).toEqual({ run: 4, failed: 2, skipped: 1 });
  expect(countJUnit([report, report])).toEqual({ run: 8, failed: 4, skipped: 2 });
});

test('nested suites without cases are not counted twice; missing numbers come from the inner suites', () => {
  const inner = `<testsuite tests="3" failures="1" errors="0" skipped="1"/><testsuite tests='4' failures='0' skipped='0'></testsuite>`;
  expect(countJUnit([`<testsuites tests="7" failures="1">${inner}</testsuites>`])).toEqual({
    run: 6,
    failed: 1,
    skipped: 1,
  });
  expect(countJUnit([`<testsuites>${inner}</testsuites>`])).toEqual({ run: 6, failed: 1, skipped: 1 });
  expect(
    countJUnit([`<testsuite tests="7" skipped="2"><testsuite tests="7">${inner}</testsuite></testsuite>`])?.run,
  ).toBe(5);
});

test('a skipped test without an element is known by its status', () => {
  const text = '<testsuite><testcase name="a" status="run"/><testcase name="b" status="notrun"/></testsuite>';
  expect(countJUnit([text])).toEqual({ run: 1, failed: 0, skipped: 1 });
});

test('names, comments and text are not taken for tests', () => {
  const text = `<!-- <testcase/> --><testsuite name="x > y tests='5' <testcase/>" tests="2"><![CDATA[<testcase/>]]></testsuite>`;
  expect(countJUnit([text])).toEqual({ run: 2, failed: 0, skipped: 0 });
});

test.each([
  ['nothing', []],
  ['no report', ['']],
  ['another document', ['<html><body>tests="5"</body></html>']],
  ['words', ['3 tests passed']],
  ['an end without a beginning', ['</testsuite></testcase>']],
  ['a number beyond all tests', ['<testsuite tests="99999999999999999999"/>']],
  ['an open quotation', ['<testsuite tests="5>']],
  ['an open comment', ['<!-- <testsuite tests="5"/>']],
])('%s is not a count', (_, xml) => {
  expect(countJUnit(xml)).toBeNull();
});

test('a truncated report counts up to its end', () => {
  expect(countJUnit(['<testsuite tests="9"><testcase/><testcase><failure'])).toEqual({ run: 2, failed: 0, skipped: 0 });
});

test('entities are never expanded', () => {
  const levels = Array.from({ length: 30 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`);
  const text = `<!DOCTYPE x [<!ENTITY l0 "lol">${levels.join('')}]><testsuite tests="&l30;"><testcase name="&l30;"/></testsuite>`;
  expect(countJUnit([text])).toEqual({ run: 1, failed: 0, skipped: 0 });
});

test.each([
  ['opened suites', '<testsuite tests="1">'],
  ['brackets', '<'],
  ['quotation marks', '<a "'],
  ['declarations', '<!a>'],
  ['open declarations', '<!a ['],
  ['comments', '<!--'],
  ['attributes', '<testsuite a="1" '],
  ['cases', '<testcase>'],
])('a report full of %s is scanned quickly', (_, piece) => {
  const began = process.cpuUsage();
  countJUnit([piece.repeat(Math.ceil((512 * 1024) / piece.length))]);
  expect(process.cpuUsage(began).user / 1_000).toBeLessThan(1_000);
});
