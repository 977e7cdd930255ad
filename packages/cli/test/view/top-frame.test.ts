import { width } from '@pawl/present/text';
import type { Top } from '@pawl/protocol/sessions/view';
import { agentView, idOf, runOf } from '@pawl/testing/agent-view';
import { describe, expect, test } from 'vitest';
import { palette } from '../../src/terminal/palette.ts';
import type { Sample } from '../../src/view/top-frame.ts';
import { cpuPercent, topFrame } from '../../src/view/top-frame.ts';

type Row = Top['agents'][number];
const mebibyte = 1024 * 1024;
const session = (number: number) => ({
  id: idOf(700 + number),
  no: number,
  pid: 1,
  providerSessionId: null,
  exitCode: null,
  sandbox: null,
});

const row = (number: number, given: Partial<Row> = {}): Row => ({
  ...agentView({ id: idOf(number), alias: `a${number}`, activity: 'running', session: session(1) }),
  cpuMs: 0,
  memoryBytes: 0,
  processes: 1,
  ...given,
});

const sample = (atMs: number, agents: Row[]): Sample => ({
  top: { daemon: { memoryBytes: 80 * mebibyte, uptimeMs: 192_000 }, counts: { running: 2, idle: 1 }, agents },
  atMs,
});

const now = new Date(2026, 0, 2, 12, 0, 5).getTime();
const options = { columns: 100, colours: palette({}), now };

describe('CPU %', () => {
  test.each<[string, Partial<Row>, Partial<Row>, number | null]>([
    ['half a processor', { cpuMs: 1_000 }, { cpuMs: 2_000 }, 50],
    ['three processors', { cpuMs: 0 }, { cpuMs: 6_000 }, 300],
    ['nothing', { cpuMs: 500 }, { cpuMs: 500 }, 0],
    ['less than before, because a process left', { cpuMs: 900 }, { cpuMs: 100 }, 0],
    ['not known before', { cpuMs: null }, { cpuMs: 100 }, null],
    ['not known now', { cpuMs: 100 }, { cpuMs: null }, null],
    ['another session', { cpuMs: 100, session: session(1) }, { cpuMs: 200, session: session(2) }, null],
  ])('%s', (_name, before, after, expected) => {
    const agent = row(1, after);
    expect(cpuPercent(sample(1_000, [row(1, before)]), sample(3_000, [agent]), agent)).toBe(expected);
  });

  test('the first frame, a new agent, and no elapsed time', () => {
    const agent = row(1, { cpuMs: 100 });
    expect(cpuPercent(null, sample(1_000, [agent]), agent)).toBeNull();
    expect(cpuPercent(sample(0, []), sample(1_000, [agent]), agent)).toBeNull();
    expect(cpuPercent(sample(1_000, [agent]), sample(1_000, [agent]), agent)).toBeNull();
  });
});

describe('a frame', () => {
  test('header, and the busiest first', () => {
    const usage = { inputTokens: 12_000, outputTokens: 345, cachedTokens: 0, costUsd: 0.25, turns: 1 };
    const before = sample(0, [row(1), row(2), row(3)]);
    const after = sample(1_000, [
      row(1, {
        cpuMs: 10,
        memoryBytes: 5 * mebibyte,
        usage,
        assignment: 'fix it',
        cost: { usd: null, tokens: 12_345 },
        run: { ...runOf('a mail'), startedAt: now - 4_000 },
      }),
      row(2, { cpuMs: 10, memoryBytes: 9 * mebibyte, usage, processes: 3 }),
      row(3, { cpuMs: 900, detail: 'compiles' }),
    ]);
    expect(topFrame(before, after, options).map((line) => line.trimEnd())).toEqual([
      'pawl 12:00:05, up 3m12s, daemon 80.0 MB',
      'agents: 2 running, 1 idle',
      'tokens: 24.0k in, 690 out, $0.5000',
      '',
      'AGENT  STATE    CPU%  MEM     TASK    ACTIVITY  CHANGE  COST       TIME  PROC',
      'a3     running  90.0  0 B     -       compiles  -       -                1',
      'a2     running  1.0   9.0 MB  -       -         -       -                3',
      'a1     running  1.0   5.0 MB  fix it  -         -       12.3k tok  4.0s  1',
    ]);
  });

  test('unknown values are a dash, and an empty list says so', () => {
    const lines = topFrame(null, sample(0, [row(1, { memoryBytes: null, cpuMs: null })]), options);
    expect(lines.at(-1)).toMatch(/^a1 +running +- +- +- +- +- +- +1/);
    expect(topFrame(null, sample(0, []), options).at(-1)).toBe('no agents');
  });

  test('is never wider or higher than the terminal', () => {
    const hostile = '\u001B[2J\u001B]0;x\u0007漢字\r\n\u202E'.repeat(30);
    const agents = Array.from({ length: 200 }, (_, index) =>
      row(index, { alias: `a-rather-long-alias-${index}`, detail: hostile, assignment: hostile }),
    );
    for (const columns of [1, 10, 40, 80, 200]) {
      for (const rows of [1, 2, 5, 24, 500]) {
        const lines = topFrame(null, sample(0, agents), { ...options, columns, rows });
        expect(lines.length).toBeLessThanOrEqual(rows);
        expect(Math.max(...lines.map(width))).toBeLessThanOrEqual(columns);
        // oxlint-disable-next-line no-control-regex -- these are the control characters that must be gone
        for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u202A-\u202E]/);
      }
    }
    expect(topFrame(null, sample(0, agents), { ...options, rows: 24 }).at(-1)).toBe('… 182 more');
  });
});
