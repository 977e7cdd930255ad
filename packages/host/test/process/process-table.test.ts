import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startOrder } from '../../src/process/process-table.ts';
import { parseStat, procTable } from '../../src/process/process-table-proc.ts';
import { parsePsLine, psTable } from '../../src/process/process-table-ps.ts';

const pageBytes = Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }));

test('fields are counted from the last parenthesis of the name', () => {
  const usage = '10 20 3 4';
  const fields = `S 7 8 ${'0 '.repeat(8)}${usage} 0 0 0 0 4242 0 5 ${'0 '.repeat(25)}100 164 0`;
  for (const name of ['sh', 'a b', ') R 1 (', '((', 'x)', '']) {
    expect(parseStat(`12 (${name}) ${fields}`, 'boot')).toEqual({
      pid: 12,
      parent: 7,
      group: 8,
      start: 'boot/4242',
      defunct: false,
      stopped: false,
      blocked: false,
      cpuMs: 370,
      residentBytes: 5 * pageBytes,
      image: '100-164',
      bare: false,
    });
  }
  expect(parseStat(`12 (sh) ${fields.replace('S', 'Z')}`, 'boot')?.defunct).toBe(true);
  expect(parseStat(`12 (sh) ${fields.replace('S', 'T')}`, 'boot')?.stopped).toBe(true);
  expect(parseStat(`12 (sh) ${fields.replace('S', 'D')}`, 'boot')?.blocked).toBe(true);
  expect(parseStat(`12 (sh) ${fields.replace('100 164', '0 0')}`, 'boot')).toMatchObject({ image: '', bare: false });
  expect(parseStat(`12 (sh) ${fields.replace('100 164', '100 100')}`, 'boot')?.bare).toBe(true);
  const kernel = fields.replace('S 7 8 0 0 0 0', 'S 7 8 0 0 0 2129984');
  expect(parseStat(`12 (kworker/0:1) ${kernel.replace('100 164', '0 0')}`, 'boot')?.bare).toBe(true);
});

test.each(['', '12', '12 (sh', '12 (sh) S', '12 (sh) S 1 2', 'x (sh) S 1 2 3'])('%j is no stat line', (line) => {
  expect(parseStat(line, 'boot')).toBe(null);
});

test('a program with a nasty name is read correctly', async () => {
  const root = mkdtempSync(join(tmpdir(), 'pawl-host-'));
  const program = join(root, 'a) S 1 (b');
  copyFileSync('/bin/sleep', program);
  const child = spawn(program, ['600'], { stdio: 'ignore' });
  try {
    expect(procTable.read(child.pid ?? 0)).toMatchObject({ pid: child.pid, parent: process.pid, defunct: false });
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(root, { recursive: true });
  }
});

test('ps lines', () => {
  expect(parsePsLine('  12     7    8 Ss   1-02:03:04  2048 Sun Nov  1 04:49:07 2026')).toEqual({
    pid: 12,
    parent: 7,
    group: 8,
    start: `ps/${Date.UTC(2026, 10, 1, 4, 49, 7) / 1000}`,
    defunct: false,
    stopped: false,
    blocked: false,
    cpuMs: 93_784_000,
    residentBytes: 2 * 1024 * 1024,
    image: '',
    bare: false,
  });
  expect(parsePsLine('12 7 8 U 3:04.05 9 Sun Nov  1 04:49:07 2026')).toMatchObject({ cpuMs: 184_050, blocked: true });
  expect(parsePsLine('nonsense')).toBe(null);
  expect(psTable.parseStart(12, 'ps', 'Sun Nov  1 04:49:07 2026')).toBe(`ps/${Date.UTC(2026, 10, 1, 4, 49, 7) / 1000}`);
  expect(psTable.parseStart(12, 'ps', 'soon')).toBe(null);
});

test('both tables agree on a process', async () => {
  const root = mkdtempSync(join(tmpdir(), 'pawl-host-'));
  const script = join(root, 'script.sh');
  writeFileSync(script, 'echo ready; read x\n');
  const child = spawn('sh', [script, 'word'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, MARK: 'here' },
  });
  try {
    await once(child.stdout, 'data');
    const pid = child.pid ?? 0;
    const [fromProc, fromPs] = [procTable.read(pid), psTable.read(pid)];
    // The kernel counts pages with some delay.
    const { residentBytes = 0 } = fromPs ?? {};
    expect(residentBytes / (fromProc?.residentBytes ?? 0)).toBeCloseTo(1, 0);
    expect(fromPs).toEqual({ ...fromProc, start: fromPs?.start, image: '', cpuMs: 0, residentBytes });
    expect(fromProc?.cpuMs).toBeLessThan(1_000);
    expect(startOrder(fromPs?.start ?? '')).toBeGreaterThan(1_700_000_000);
    for (const table of [procTable, psTable]) {
      expect(table.list().some((entry) => entry.pid === pid)).toBe(true);
      expect(table.runsScript(pid, script)).toBe(true);
      expect(table.runsScript(pid, 'word')).toBe(false);
      expect(table.runsScript(pid, script.slice(0, -1))).toBe(false);
    }
    expect(procTable.variables([pid, 2 ** 22 + 1], 'MARK')).toEqual(new Map([[pid, ['here']]]));
    expect(procTable.variables([pid], 'ARK')).toEqual(new Map([[pid, []]]));
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(root, { recursive: true });
  }
  expect(procTable.read(child.pid ?? 0)).toBe(null);
  expect(psTable.read(child.pid ?? 0)).toBe(null);
});
