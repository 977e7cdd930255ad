import { codeOnly } from '@pawl/core/guard/code-text';
import { measureTests } from '@pawl/core/guard/test-strength';
import type { TestPair } from '@pawl/core/guard/weaker-tests';
import { weakerTests } from '@pawl/core/guard/weaker-tests';
import { sampleOf } from '@pawl/testing/endurance';
import { expect, test } from 'vitest';

type Sides = [before: string | null, after: string | null];

function found(files: Record<string, Sides>, isCounted = true): string[] {
  const measure = (path: string, text: string | null) => (text === null ? null : measureTests(path, text));
  const pairs = Object.entries(files).map(([path, [before, after]]): TestPair => ({
    path,
    before: measure(path, before),
    after: measure(path, after),
  }));
  return weakerTests(pairs, isCounted).map(({ kind, detail }) => `${kind} ${detail}`);
}

const kinds = (files: Record<string, Sides>, isCounted?: boolean) =>
  found(files, isCounted).map((text) => text.split(' ')[0]);

const js = (body: string, name = 'adds') => `test('${name}', async () => {${body}});\n`;
const asserting = '\n  expect(add(1, 2)).toBe(3);\n  expect(add(2, 2)).toBe(4);\n';

test.each<[string, string, string, string]>([
  ['a.test.js', js(asserting), js(''), 'test-emptied'],
  ['a.test.js', js(asserting), js('\n  // expect(add(1, 2)).toBe(3);\n'), 'test-emptied'],
  ['a.test.js', js(asserting), js('return;\n  expect(1).toBe(a);\n'), 'test-emptied'],
  ['a.test.js', js(asserting), "test('adds');\n", 'test-emptied'],
  ['a.test.js', js(asserting), js('', 'adds numbers'), 'test-emptied'],
  ['a.test.js', js(asserting), js('\n  expect(add(1, 2)).toBe(3);\n'), 'fewer-assertions'],
  ['a.test.js', js(asserting), js('\n  expect(add(1, 2)).toBe(3);\n', 'another name'), 'fewer-assertions'],
  ['a.test.js', js(asserting), js('\n  add(1, 2);\n'), 'fewer-assertions'],
  ['a.test.js', js(asserting), js('\n  expect(true).toBe(true);\n  assert.ok(1);\n'), 'fewer-assertions'],
  ['a.test.js', js(asserting), js('\n  const text = "expect(a) expect(b)"; /* expect(c) */\n'), 'fewer-assertions'],
  ['a.test.js', js(asserting), js(`try {${asserting}} catch {}`), 'failure-dropped'],
  ['a.test.js', js(asserting), js(`try {${asserting}} catch (error) { console.log(error); }`), 'failure-dropped'],
  [
    'a.test.js',
    js('await expect(a()).resolves.toBe(1);'),
    js('await expect(a()).resolves.toBe(1).catch(() => {});'),
    'failure-dropped',
  ],
  ['a.test.js', js(asserting), '', 'test-emptied'],
  ['a.test.js', js(asserting), '// nothing\n', 'test-emptied'],
  ['test/plain.js', 'assert.equal(a, 1);\nassert.equal(b, 2);\n', 'assert.equal(a, 1);\n', 'fewer-assertions'],
  ['test_a.py', 'def test_a():\n    assert a == 1\n', 'def test_a():\n    pass\n', 'test-emptied'],
  [
    'test_a.py',
    'def test_a():\n    assert a == 1\n',
    'def test_a():\n    try:\n        assert a == 1\n    except Exception:\n        pass\n',
    'failure-dropped',
  ],
  [
    'test_a.py',
    'def test_a():\n    assert a == 1\n',
    'def test_a():\n    with suppress(Exception):\n        assert a == 1\n',
    'failure-dropped',
  ],
  [
    'test_a.py',
    'def test_a():\n    assert a == 1\n    assert b\n',
    'def test_a():\n    assert a == 1\n',
    'fewer-assertions',
  ],
  ['test_a.py', 'def test_a():\n    assert a == 1\n', 'def test_a():\n    """assert a"""\n', 'test-emptied'],
  [
    'a_test.go',
    'func TestA(t *testing.T) {\n\tif a != 1 {\n\t\tt.Fatal("x")\n\t}\n}\n',
    'func TestA(t *testing.T) {\n}\n',
    'test-emptied',
  ],
  ['src/lib.rs', '#[test]\nfn adds() {\n    assert_eq!(add(1), 2);\n}\n', '#[test]\nfn adds() {}\n', 'test-emptied'],
  [
    'ATest.java',
    '@Test\nvoid adds() {\n  assertEquals(3, add(1, 2));\n}\n',
    '@Test\nvoid adds() {\n  try { assertEquals(3, add(1, 2)); } catch (Throwable e) { }\n}\n',
    'failure-dropped',
  ],
  ['spec/a_spec.rb', "it 'adds' do\n  expect(add).to eq 3\nend\n", "it 'adds' do\nend\n", 'test-emptied'],
  [
    'spec/a_spec.rb',
    "it 'adds' do\n  expect(add).to eq 3\nend\n",
    "it 'adds' do\n  begin\n    expect(add).to eq 3\n  rescue\n  end\nend\n",
    'failure-dropped',
  ],
])('%s: %j becomes %j: %s', (path, before, after, kind) => {
  expect(kinds({ [path]: [before, after] })).toEqual([kind]);
  // Nothing else is reported without a change, nor for the reverse.
  expect(kinds({ [path]: [after, after] })).toEqual([]);
  expect(kinds({ [path]: [after, before] })).toEqual([]);
  expect(kinds({ [path]: [null, after] })).toEqual([]);
});

test.each<[string, Record<string, Sides>]>([
  ['more assertions', { 'a.test.js': [js(asserting), js(`${asserting}  expect(c).toBe(1);`)] }],
  ['another value, another name', { 'a.test.js': [js(asserting), js(asserting.replace('3', '5'), 'sums')] }],
  [
    'a test that moved to another file',
    {
      'a.test.js': [js(asserting) + js('expect(1).toBe(b)', 'b'), js('expect(1).toBe(b)', 'b')],
      'b.test.js': ['', js(asserting)],
    },
  ],
  [
    'a file whose tests all moved',
    { 'a.test.js': [js(asserting), '// see b.test.js\n'], 'b.test.js': [null, js(asserting)] },
  ],
  [
    'lines that moved to a helper',
    { 'a.test.js': [js(asserting), js('check();')], 'test/check.js': [null, `function check() {${asserting}}`] },
  ],
  [
    'a try whose failure is told',
    {
      'a.test.js': [js(asserting), js(`try {${asserting}} catch (error) { throw new Error('x', { cause: error }); }`)],
    },
  ],
  [
    'a try that expects a failure',
    {
      'a.test.js': [
        js(asserting),
        js(`${asserting} try { run(); assert.fail(); } catch (error) { expect(error.code).toBe(1); }`),
      ],
    },
  ],
  ['a try around the set-up', { 'a.test.js': [js(asserting), js(`try { setUp(); } catch {}${asserting}`)] }],
  ['a new empty test beside others', { 'a.test.js': [js(asserting), js(asserting) + js('', 'todo')] }],
  ['assertions in the code itself', { 'src/lib.rs': ['fn a() { assert!(b); }', 'fn a() {}'] }],
])('%s: nothing is reported', (_, files) => {
  expect(found(files)).toEqual([]);
});

test('removed tests are left to the runner’s count, and reported if there is none', () => {
  const files: Record<string, Sides> = { 'a.test.js': [js(asserting) + js(asserting, 'b'), js(asserting)] };
  expect(kinds(files)).toEqual([]);
  expect(kinds(files, false)).toEqual(['fewer-assertions']);
  expect(kinds({ 'a.test.js': [js(asserting), null] })).toEqual([]);
  expect(kinds({ 'a.test.js': [js(asserting), null] }, false)).toEqual(['fewer-assertions']);
});

test('replacing a file by another with as many empty tests is reported', () => {
  expect(found({ 'a.test.js': [js(asserting), null], 'b.test.js': [null, js('', 'b')] })).toEqual([
    'fewer-assertions all test files of the change: fewer assertions, 2 before, 0 now',
  ]);
});

test('a finding says where, and how many', () => {
  const before = js(asserting) + js(asserting, 'b') + js(asserting, 'c') + js(asserting, 'd') + js(asserting, 'e');
  expect(found({ 'a.test.js': [before, before.replaceAll(asserting, '')] })).toEqual([
    'test-emptied a.test.js: the body of “adds”, “b”, “c” and 2 more is empty now',
  ]);
  expect(found({ 'a.test.js': [js(asserting), js(asserting.replace('expect(add(1, 2)).toBe(3);', ''))] })).toEqual([
    'fewer-assertions a.test.js: fewer assertions, 2 before, 1 now',
  ]);
});

test.each([
  [
    'script',
    'a("x\\"y") // b\nc `d ${e}\n f` /* g */ (/["\']/.test(i))',
    'a("    ")     \nc `      \n  `         (/    /.test(i))',
  ],
  ['python', 'a("""b\nc""") # d', 'a("   \n   ")    '],
  ['rust', "fn a<'b>(c: &'b str) { '\"' } // d", "fn a<'b>(c: &'b str) { ' ' }     "],
  ['shell', 'a # b\n"$#" c#d', 'a    \n"  " c#d'],
] as const)('%s: comments and strings are not code', (language, text, code) => {
  expect(codeOnly(text, language)).toBe(code);
});

/** Content that could make the scan slow. */
const pieces = [
  'test(',
  "test('a', () => {",
  'try {',
  'try { expect(',
  'assert.',
  'expect(a)',
  '"',
  '`',
  '/',
  '/*',
  '\n',
  ' ',
  '.catch(() => {',
];

test.each(sampleOf(pieces, 4))('a file full of %j is scanned quickly', (piece) => {
  const text = piece.repeat(Math.ceil((512 * 1024) / piece.length));
  const lines = `${piece}\n`.repeat(Math.ceil((512 * 1024) / (piece.length + 1)));
  const began = process.cpuUsage();
  for (const path of ['a.test.js', 'test_a.py', 'ATest.java']) {
    measureTests(path, text);
    measureTests(path, lines);
  }
  expect(process.cpuUsage(began).user / 1_000).toBeLessThan(5_000);
});
