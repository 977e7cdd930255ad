import { countTests, createTestCounter } from '@pawl/core/guard/count-tests';
import { limits } from '@pawl/schema/limit';
import { expect, test } from 'vitest';

/** Real output of the runners. */
const printed: [string, string, { run: number; failed: number; skipped: number }][] = [
  [
    'vitest',
    ' Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 2 passed | 1 skipped | 1 todo (5)\n   Start at  17:02:31\n   Duration  343ms (transform 29ms, setup 0ms, import 52ms, tests 10ms, environment 0ms)\n',
    { run: 3, failed: 1, skipped: 2 },
  ],
  [
    'vitest in colour',
    '\u001b[2m Test Files \u001b[22m \u001b[1m\u001b[32m1 passed\u001b[39m\u001b[22m\u001b[90m (1)\u001b[39m\n\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[32m1 passed\u001b[39m\u001b[22m\u001b[90m (1)\u001b[39m\n',
    { run: 1, failed: 0, skipped: 0 },
  ],
  [
    'node --test, spec',
    '✖ bad (1.3ms)\nℹ tests 5\nℹ suites 1\nℹ pass 2\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 1\nℹ duration_ms 62.566705\n\n✖ failing tests:\n',
    { run: 3, failed: 1, skipped: 2 },
  ],
  [
    'node --test, tap',
    "ok 1 - one\n  ---\n  duration_ms: 0.41\n  type: 'test'\n  ...\nok 2 - two # SKIP\nok 5 - s\n1..5\n# tests 5\n# suites 1\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 1\n# todo 1\n# duration_ms 84.035599\n",
    { run: 3, failed: 1, skipped: 2 },
  ],
  [
    'pytest',
    'FAILED p/test_a.py::test_b - assert 0\n========= 1 failed, 2 passed, 2 skipped, 2 xfailed, 1 xpassed in 0.88s =========\n',
    { run: 3, failed: 1, skipped: 5 },
  ],
  ['pytest -q', '1 failed, 2 passed, 2 skipped, 2 xfailed, 1 xpassed in 0.86s\n', { run: 3, failed: 1, skipped: 5 }],
  [
    'pytest without tests',
    'collected 0 items\n\n============================ no tests ran in 0.71s =============================\n',
    { run: 0, failed: 0, skipped: 0 },
  ],
  [
    'unittest',
    '.sx\n----------------------------------------------------------------------\nRan 3 tests in 0.000s\n\nOK (skipped=1, expected failures=1)\n',
    { run: 1, failed: 0, skipped: 2 },
  ],
  ['unittest without tests', 'Ran 0 tests in 0.000s\n\nOK\n', { run: 0, failed: 0, skipped: 0 }],
  [
    'cargo test, with its documentation tests',
    'running 3 tests\ntest b ... ignored\ntest a ... ok\ntest c ... ok\n\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n   Doc-tests r\n\nrunning 1 test\ntest src/lib.rs - (line 1) ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.09s\n',
    { run: 3, failed: 0, skipped: 1 },
  ],
];

/** Written from the runners' documentation. */
const documented: typeof printed = [
  [
    'jest',
    'Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 1 skipped, 1 todo, 2 passed, 5 total\nSnapshots:   0 total\nTime:        0.5 s\nRan all test suites.\n',
    { run: 3, failed: 1, skipped: 2 },
  ],
  ['jest without tests', 'No tests found, exiting with code 0\n', { run: 0, failed: 0, skipped: 0 }],
  [
    'mocha',
    '\n\n  12 passing (1s)\n  2 pending\n  1 failing\n\n  1) it:\n     broke\n',
    { run: 13, failed: 1, skipped: 2 },
  ],
  ['ava', '  ─\n\n  1 test failed\n  1 test skipped\n  4 tests passed\n', { run: 5, failed: 1, skipped: 1 }],
  [
    'tap 18',
    'Asserts:  7 pass  1 fail  8 of 8 complete\nSuites:   1 pass  0 fail  1 of 1 complete\n',
    { run: 8, failed: 1, skipped: 0 },
  ],
  [
    'tap 16',
    'Suites:   1 passed, 1 of 1 completed\nAsserts:  6 passed, 1 skip, of 7\nTime:     281ms\n',
    { run: 6, failed: 0, skipped: 1 },
  ],
  [
    'TAP of another program',
    '1..4\nok 1 - a\nok 2 - b # SKIP no net\nnot ok 3 - c\nok 4\n',
    { run: 3, failed: 1, skipped: 1 },
  ],
  ['tape', 'ok 1 a\nok 2 b\nnot ok 3 c\n\n1..3\n# tests 3\n# pass  2\n# fail  1\n', { run: 3, failed: 1, skipped: 0 }],
  [
    'bun test',
    'bun test v1.1.0\n\n 3 pass\n 1 skip\n 2 fail\n 9 expect() calls\nRan 6 tests across 2 files. [12.00ms]\n',
    { run: 5, failed: 2, skipped: 1 },
  ],
  ['deno test', 'ok | 3 passed (2 steps) | 0 failed | 1 ignored (10ms)\n', { run: 3, failed: 0, skipped: 1 }],
  ['deno test that failed', 'FAILED | 2 passed | 1 failed (12ms)\n', { run: 3, failed: 1, skipped: 0 }],
  [
    'pytest with xdist, a long run',
    '4 workers [120 items]\n====== 118 passed, 2 skipped, 3 warnings in 83.20s (0:01:23) ======\n',
    { run: 118, failed: 0, skipped: 2 },
  ],
  [
    'pytest with re-runs and subtests',
    '== 3 passed, 2 rerun, 5 subtests passed in 1.00s ==\n',
    { run: 3, failed: 0, skipped: 0 },
  ],
  [
    'unittest that failed',
    'Ran 4 tests in 0.010s\n\nFAILED (failures=1, errors=1, skipped=1)\n',
    { run: 3, failed: 2, skipped: 1 },
  ],
  [
    'go test -v',
    '=== RUN   TestA\n=== RUN   TestA/one\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/one (0.00s)\n=== RUN   TestB\n--- SKIP: TestB (0.00s)\nPASS\nok  \texample.com/a\t0.003s\n',
    { run: 2, failed: 0, skipped: 1 },
  ],
  [
    'go test: packages',
    'ok  \texample.com/a\t0.003s\nok  \texample.com/b\t(cached)\n?   \texample.com/c\t[no test files]\nok  \texample.com/d\t0.01s [no tests to run]\nFAIL\texample.com/e\t0.01s\nFAIL\n',
    { run: 3, failed: 1, skipped: 0 },
  ],
  [
    'gotestsum, which also prints what go prints',
    'ok  \texample.com/a\t0.003s\n\n=== Skipped\n=== SKIP: a TestB (0.00s)\n\nDONE 12 tests, 1 skipped, 2 failures in 0.51s\n',
    { run: 11, failed: 2, skipped: 1 },
  ],
  [
    'cargo nextest',
    '     Summary [   0.005s] 5 tests run: 4 passed (1 slow), 1 failed, 2 skipped\n',
    { run: 5, failed: 1, skipped: 2 },
  ],
  ['rspec', 'Finished in 0.02 seconds\n7 examples, 1 failure, 2 pending\n', { run: 5, failed: 1, skipped: 2 }],
  ['minitest', '5 runs, 8 assertions, 1 failures, 1 errors, 1 skips\n', { run: 4, failed: 2, skipped: 1 }],
  ['mix test', '2 doctests, 10 tests, 0 failures, 1 skipped\n', { run: 11, failed: 0, skipped: 1 }],
  ['phpunit', 'OK (3 tests, 5 assertions)\n', { run: 3, failed: 0, skipped: 0 }],
  [
    'phpunit with skips',
    'OK, but some tests were skipped!\nTests: 6, Assertions: 5, Skipped: 1, Incomplete: 1.\n',
    { run: 4, failed: 0, skipped: 2 },
  ],
  ['pest', '  Tests:    1 failed, 1 skipped, 4 passed (9 assertions)\n', { run: 5, failed: 1, skipped: 1 }],
  [
    'dotnet test',
    'Passed!  - Failed:     0, Passed:     3, Skipped:     1, Total:     4, Duration: 10 ms - A.dll (net8.0)\nFailed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4, Duration: 9 ms - B.dll (net8.0)\n',
    { run: 7, failed: 1, skipped: 1 },
  ],
  [
    'surefire: classes are in the sum already',
    '[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.1 s -- in com.example.ATest\n[INFO] Results:\n[INFO] \n[INFO] Tests run: 9, Failures: 0, Errors: 0, Skipped: 1\n[INFO] \n[WARNING] Tests run: 4, Failures: 0, Errors: 0, Skipped: 2\n',
    { run: 10, failed: 0, skipped: 3 },
  ],
  [
    'gradle with its tests shown',
    'ATest > adds() PASSED\nATest > subtracts() SKIPPED\nBTest > [1] x PASSED\n',
    { run: 2, failed: 0, skipped: 1 },
  ],
  ['gradle that failed', '12 tests completed, 1 failed, 2 skipped\n', { run: 10, failed: 1, skipped: 2 }],
  [
    'playwright',
    '  1 flaky\n    [chromium] › a.spec.ts:3:1\n  2 skipped\n  3 passed (4.2s)\n',
    { run: 4, failed: 0, skipped: 2 },
  ],
  [
    'GoogleTest',
    '[==========] 5 tests from 2 test suites ran. (0 ms total)\n[  PASSED  ] 4 tests.\n[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] A.B\n',
    { run: 4, failed: 0, skipped: 1 },
  ],
  ['prove', 'All tests successful.\nFiles=3, Tests=24,  0 wallclock secs\n', { run: 24, failed: 0, skipped: 0 }],
];

test.each(printed)('counts real output of %s', (_, text, count) => {
  expect(countTests(text)).toEqual(count);
});

test.each(documented)('counts documented output of %s', (_, text, count) => {
  expect(countTests(text)).toEqual(count);
});

test('summaries of several runners and packages add up', () => {
  const all = [...printed, ...documented].filter(([name]) => /^(vitest|pytest|jest|rspec|mocha)$/.test(name));
  const sum = all.reduce((total, [, , { run }]) => total + run, 0);
  expect(all).toHaveLength(5);
  expect(countTests(all.map(([, text]) => text).join('\n'))?.run).toBe(sum);
  const one = ' Test Files  1 passed (1)\n      Tests  4 passed (4)\n';
  expect(countTests(one + one)?.run).toBe(8);
});

test('interleaved lines with package prefixes are told apart', () => {
  const text = [
    'packages/a test:  Test Files  1 passed (1)',
    'packages/b test:  Test Files  2 passed (2)',
    'packages/b test:       Tests  7 passed (7)',
    'packages/a test:       Tests  5 passed (5)',
    'web:test: ℹ tests 2',
    '[api]: Tests:       3 passed, 3 total',
    'web:test: ℹ pass 2',
  ].join('\n');
  expect(countTests(text)).toEqual({ run: 17, failed: 0, skipped: 0 });
});

test.each([
  ['nothing', ''],
  ['words', 'all good\nthe tests passed\n3 apples passed in front of the window\n12 of 12\n'],
  ['a number beyond all tests', ' Test Files  1 passed (1)\n      Tests  99999999999999999999 passed (1)\n'],
  ['a line in the middle of another', 'he said: "test result: ok. 2 passed; 0 failed"\n> Ran 3 tests in 1.0s\n'],
  ['half of a closing', 'Ran 3 tests in 0.1s\n'],
])('%s is not a count', (_, text) => {
  expect(countTests(text)).toBeNull();
});

test('streamed output is counted the same, wherever it is split', () => {
  for (const [, text, count] of [...printed, ...documented]) {
    for (const size of [1, 7, 64]) {
      const counter = createTestCounter();
      for (let at = 0; at < text.length; at += size) counter.read(text.slice(at, at + size));
      expect(counter.total()).toEqual(count);
    }
  }
});

test.each([
  ['empty lines', '\n'],
  ['points', 'ok 1\n'],
  ['lines of others', 'a: ok 1\n'],
  ['escapes', '\u001b['],
  ['titles', '\u001b]0;'],
  ['one line', '1 passed, '],
  ['spaces', `${' '.repeat(990)}1 test`],
  ['nearly a closing', `${'1 passed, '.repeat(90)}in in in 1\n`],
  ['returns', '1 passed in 1s\r'],
])('an output full of %s is scanned quickly', (_, piece) => {
  const text = piece.repeat(Math.ceil(limits.checkEndBytes / piece.length));
  const began = process.cpuUsage();
  countTests(text);
  // Takes 5 to 40 ms; anything non-linear takes minutes.
  expect(process.cpuUsage(began).user / 1_000).toBeLessThan(1_000);
});
