import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startOrder } from '../src/process-table.ts';
import { parseStat, procTable } from '../src/process-table-proc.ts';
import { parsePsLine, psTable } from '../src/process-table-ps.ts';

test('fields are counted from the last parenthesis of the name', () => {
  const fields = `S 7 8 ${'0 '.repeat(16)}4242 0 0`;
  for (const name of ['sh', 'a b', ') R 1 (', '((', 'x)', '']) {
    expect(parseStat(`12 (${name}) ${fields}`, 'boot')).toEqual({
      pid: 12,
      parent: 7,
      group: 8,
      start: 'boot/4242',
      defunct: false,
      stopped: false,
    });
  }
  expect(parseStat(`12 (sh) ${fields.replace('S', 'Z')}`, 'boot')?.defunct).toBe(true);
  expect(parseStat(`12 (sh) ${fields.replace('S', 'T')}`, 'boot')?.stopped).toBe(true);
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
  expect(parsePsLine('  12     7    8 Ss   Sun Nov  1 04:49:07 2026')).toEqual({
    pid: 12,
    parent: 7,
    group: 8,
    start: `ps/${Date.UTC(2026, 10, 1, 4, 49, 7) / 1000}`,
    defunct: false,
    stopped: false,
  });
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
    expect(fromPs).toEqual({ ...fromProc, start: fromPs?.start });
    expect(startOrder(fromPs?.start ?? '')).toBeGreaterThan(1_700_000_000);
    for (const table of [procTable, psTable]) {
      expect(table.list().some((entry) => entry.pid === pid)).toBe(true);
      expect(table.runsScript(pid, script)).toBe(true);
      expect(table.runsScript(pid, 'word')).toBe(false);
      expect(table.runsScript(pid, script.slice(0, -1))).toBe(false);
    }
    expect(procTable.hasVariable(pid, 'MARK', 'here')).toBe(true);
    expect(procTable.hasVariable(pid, 'MARK', 'her')).toBe(false);
    expect(procTable.hasVariable(pid, 'ARK', 'here')).toBe(false);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(root, { recursive: true });
  }
  expect(procTable.read(child.pid ?? 0)).toBe(null);
  expect(psTable.read(child.pid ?? 0)).toBe(null);
});
