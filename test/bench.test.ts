import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Baseline } from '../bench/baseline.ts';
import { comparison } from '../bench/baseline.ts';
import { formatTable } from '../bench/report.ts';

const bench = join(import.meta.dirname, '..', 'bench', 'bench.ts');

test('a measure that times out is named with its last step, and leaves no files and processes behind', () => {
  const place = mkdtempSync(join(tmpdir(), 'pawl-bench-test-'));
  try {
    const args = [bench, '--quick', '--only', 'kill-family', '--limit', '1'];
    const { status, stdout } = spawnSync(process.execPath, args, {
      encoding: 'utf8',
      env: { ...process.env, TMPDIR: place },
    });
    expect(stdout).toMatch(/^FAILED kill-family: not done after 1 s; last step: /m);
    expect(status).toBe(1);
    expect(readdirSync(place)).toEqual([]);
    expect(processesOf(place)).toEqual([]);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

/** Processes that have a directory in their environment, where the system shows it. */
function processesOf(directory: string): string[] {
  const pids = existsSync('/proc/self/environ') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${directory}/`);
    } catch {
      return false;
    }
  });
}

test.each([
  ['--limit', 'soon', 'error: --limit takes a number of seconds, not soon'],
  ['--only', 'speed', 'error: there is no measure speed'],
])('%s %s is refused', (flag, value, message) => {
  const { status, stderr } = spawnSync(process.execPath, [bench, flag, value], { encoding: 'utf8' });
  expect(status).toBe(2);
  expect(stderr).toContain(message);
});

test('a row is compared with the last release by its ratio to the floor, else by its value', () => {
  const baseline: Baseline = {
    version: '0.1.0',
    cores: 2,
    measures: {
      spawn: { value: 100, unit: 'ms', ratio: 4 },
      mails: { value: 1_000, unit: '/s', ratio: null },
      memory: { value: 80, unit: 'MB', ratio: null },
    },
  };
  const compare = (row: Parameters<typeof comparison>[0]) => comparison(row, baseline);
  // Twice the time on a machine that is twice as slow is no change.
  expect(compare({ measure: 'spawn', value: 200, floor: 50, unit: 'ms' })).toBe('+0 %');
  expect(compare({ measure: 'spawn', value: 300, floor: 50, unit: 'ms' })).toBe('+50 % WORSE');
  expect(compare({ measure: 'mails', value: 500, unit: '/s' })).toBe('−50 % WORSE');
  expect(compare({ measure: 'mails', value: 2_000, unit: '/s' })).toBe('+100 %');
  expect(compare({ measure: 'memory', value: 84, unit: 'MB' })).toBe('+5 %');
  expect(compare({ measure: 'memory', value: 84, unit: 'kB' })).toBe('new');
  expect(compare({ measure: 'other', value: 1, unit: 'ms' })).toBe('new');
  expect(comparison({ measure: 'spawn', value: 1, unit: 'ms' }, null)).toBe('new');
  expect(formatTable([{ measure: 'memory', value: 120, unit: 'MB' }], compare)).toContain('+50 % WORSE');
});
