import type { PatchFile } from '@pawl/core/guard/patch';
import { addedSkips, testsGained } from '@pawl/core/guard/skips';
import { isTestFile } from '@pawl/core/guard/test-files';
import { expect, test } from 'vitest';

function aFile(path: string, added: string[], removed: string[] = []): PatchFile {
  const lines = added.map((text, index) => ({ line: index + 1, text }));
  return { path, from: path, isNew: false, isDeleted: false, isBinary: false, added: lines, removed };
}

test.each([
  ['a.test.ts', "  it.skip('adds', () => {"],
  ['a.test.ts', "test.only('adds', () => {"],
  ['a.test.ts', "test.describe.skip('adds', () => {"],
  ['a.test.ts', "test.todo('adds');"],
  ['a.test.ts', "xit('adds', () => {"],
  ['a.test.ts', "fdescribe('adds', () => {"],
  ['test/a.js', "test('adds', { skip: true }, () => {"],
  ['test/a.js', '  t.skip();'],
  ['test/a.js', "Deno.test.ignore('adds', () => {"],
  ['tests/test_a.py', '@pytest.mark.skip'],
  ['tests/test_a.py', "@pytest.mark.skipif(True, reason='x')"],
  ['tests/test_a.py', '@mark.xfail'],
  ['tests/test_a.py', "@unittest.skip('x')"],
  ['tests/test_a.py', "    pytest.skip('x')"],
  ['tests/test_a.py', "    self.skipTest('x')"],
  ['conftest.py', "collect_ignore = ['test_a.py']"],
  ['conftest.py', 'def pytest_runtest_makereport(item, call):'],
  ['a_test.go', '\tt.Skip("x")'],
  ['a_test.go', '//go:build ignore'],
  ['src/lib.rs', '#[ignore]'],
  ['src/lib.rs', '    #[ignore = "slow"]'],
  ['src/lib.rs', '#[cfg_attr(target_os = "linux", ignore)]'],
  ['src/test/java/ATest.java', '  @Disabled("x")'],
  ['src/test/java/ATest.java', '@Ignore'],
  ['ATests.cs', '[Fact(Skip = "x")]'],
  ['tests/ATest.php', '$this->markTestSkipped("x");'],
  ['spec/a_spec.rb', "  xit 'adds' do"],
  ['spec/a_spec.rb', "  skip 'x'"],
  ['test/a_test.exs', '  @tag :skip'],
  ['test/a.bats', '  skip "x"'],
  ['a_test.cc', 'TEST(A, DISABLED_B) {'],
  ['Cargo.toml', 'autotests = false'],
])('%s: %s skips tests', (path, line) => {
  expect(addedSkips(aFile(path, ['', line]), false)).toEqual([{ line: 2, text: line.trim() }]);
  // Moved, indented or reworded: there are no more of them than before.
  expect(addedSkips(aFile(path, [line], [`  ${line}`]), false)).toEqual([]);
  // A removed skip is not reported.
  expect(addedSkips(aFile(path, [], [line]), false)).toEqual([]);
});

test.each([
  ['README.md', "it.skip('adds')"],
  ['docs/test/guide.md', "test.only('x')"],
  ['src/query.ts', 'return rows.skip(10);'],
  ['a.test.ts', "// it.skip('adds')"],
  ['a.test.ts', "expect(list.only(1)).toBe('x');"],
  ['a.test.ts', 'const page = await find({ skip: 10, take: 5 });'],
  ['a.test.ts', "test.runIf(process.platform === 'linux')('adds', () => {"],
  ['a.test.ts', 'model.fit(data);'],
  ['a.test.ts', 'git.commit(x);'],
  ['tests/test_a.py', '# @pytest.mark.skip'],
  ['tests/test_a.py', 'skip = 3'],
  ['a_test.go', 'rows.Skip(3)'],
  ['spec/a_spec.rb', 'skip = 1'],
  ['tests/run.sh', '# TODO: more of it'],
  ['src/Skipper.java', '@Ignore'],
])('%s: %s skips nothing', (path, line) => {
  expect(addedSkips(aFile(path, [line]), false)).toEqual([]);
});

test.each([
  'npm test || true',
  '\tset +e; make',
  '    continue-on-error: true',
  '\t-npm test',
  'run: vitest --passWithNoTests',
  'exit 0',
])('a gate file that ignores failures is reported: %s', (line) => {
  expect(addedSkips(aFile('ci/run', [line]), true)).toHaveLength(1);
  expect(addedSkips(aFile('ci/run', [line]), false)).toEqual([]);
  expect(addedSkips(aFile('ci/run', [`# ${line}`]), true)).toEqual([]);
});

test('reports only as many as there are more, and those that are new', () => {
  const file = aFile('a.test.ts', ["it.skip('a')", "it.skip('b')", "it.skip('c')"], ["it.skip('b')", "it.skip('z')"]);
  expect(addedSkips(file, false)).toEqual([{ line: 3, text: "it.skip('c')" }]);
});

test.each([
  ['a.test.ts', "test('adds', () => {"],
  ['a.test.ts', '  it.each`'],
  ['tests/test_a.py', '    async def test_a(self):'],
  ['a_test.go', 'func TestA(t *testing.T) {'],
  ['src/lib.rs', '    #[tokio::test]'],
  ['ATest.java', '  @Test'],
  ['ATests.cs', '[Theory]'],
  ['tests/ATest.php', '  public function testAdds(): void'],
  ['spec/a_spec.rb', "  it 'adds' do"],
  ['test/a_test.exs', '  test "adds" do'],
  ['a.bats', '@test "adds" {'],
  ['a_test.cc', 'TEST_F(A, B) {'],
])('%s: %s is a test', (path, line) => {
  expect(testsGained(aFile(path, [line]))).toBe(1);
  expect(testsGained(aFile(path, ['x'], [line]))).toBe(-1);
  expect(testsGained(aFile(path, [line], [line]))).toBe(0);
});

test('a test that is commented out, or moves to a file without tests, is gone', () => {
  expect(testsGained(aFile('a.test.ts', ["// test('a', () => {"], ["test('a', () => {"]))).toBe(-1);
  expect(testsGained({ ...aFile('a.old', ["test('a')"], ["test('a')"]), from: 'a.test.ts' })).toBe(-1);
  expect(testsGained(aFile('src/a.ts', [], ['if (pattern.test(x)) it();', "test('a')"]))).toBe(0);
});

test.each([
  ['test/a.ts', true],
  ['src/__tests__/a.js', true],
  ['a.spec.tsx', true],
  ['test_a.py', true],
  ['a_test.go', true],
  ['src/test/java/com/A.java', true],
  ['ThingIT.java', true],
  ['src/latest.ts', false],
  ['src/contest.py', false],
  ['test/data.json', false],
  ['docs/test.md', false],
  ['packages/testing/src/a.ts', false],
])('%s is a test file: %s', (path, expected) => {
  expect(isTestFile(path)).toBe(expected);
});

test.each(['it(', 'it.a', '#[cfg_attr(', 'TEST(', ' ', '[Fact(', "it('x', {"])(
  'a patch full of %j is scanned quickly',
  (piece) => {
    const line = piece.repeat(10_000);
    const lines = Array.from({ length: Math.ceil((2 * 1024 * 1024) / line.length) }, () => line);
    const short = Array.from({ length: 500 }, () => piece.repeat(Math.ceil(500 / piece.length)));
    const began = process.cpuUsage();
    for (const path of ['a.test.ts', 'src/a.rs', 'ATest.cs', 'test_a.py']) {
      const file = aFile(path, [...lines, ...short]);
      addedSkips(file, false);
      addedSkips(file, true);
      testsGained(file);
    }
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(2_000);
  },
);
