import { expect, test } from 'vitest';
import { runFiles } from '../../src/guard/run-files.ts';

const paths = (command: string) => [...runFiles([command])].filter((word) => /[./]/.test(word));

test.each([
  ['./ci.sh', ['./ci.sh']],
  ['sh check.sh && node scripts/unit.mjs --all', ['check.sh', 'scripts/unit.mjs']],
  ['CI=1 npx tsx scripts/run.ts', ['scripts/run.ts']],
  ['vitest --config ci/vitest.ts', ['ci/vitest.ts']],
  ['vitest --config=ci/vitest.ts src/a.test.ts', ['ci/vitest.ts']],
  ['make -f build/rules.mk test', ['build/rules.mk']],
  ['if python3 -W error tools/lint.py; then ./run; fi', ['tools/lint.py', './run']],
  ['node --test', []],
  ['echo fine; test ! -e bad.txt', []],
  ['grep -q ok status.txt || cat notes.md', []],
  ['cat < input.txt > output.txt', []],
])('%s', (command, expected) => {
  expect(paths(command)).toEqual(expected);
});
