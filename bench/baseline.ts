import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from './report.ts';
import { isMoreBetter, ratioOf } from './report.ts';

/** The figures of the last release, committed, so that a slow-down shows in the same table. */
const path = join(import.meta.dirname, 'baseline.json');

export type Baseline = {
  version: string;
  cores: number;
  measures: Record<string, { value: number; unit: string; ratio: number | null }>;
};

/** Smaller differences are noise: two runs on one machine differ by as much. */
const noise = 0.25;

/** Reads the figures of the last release; null if there are none yet. */
export function readBaseline(): Baseline | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return null;
  }
  return JSON.parse(text) as Baseline;
}

/** Replaces the figures of the measures that ran; those of others stay. */
export function saveBaseline(rows: readonly Row[], about: { version: string; cores: number }): void {
  const measures = { ...readBaseline()?.measures };
  for (const row of rows) measures[row.measure] = { value: row.value, unit: row.unit, ratio: ratioOf(row) };
  const sorted = Object.fromEntries(Object.entries(measures).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(path, `${JSON.stringify({ ...about, measures: sorted }, null, 2)}\n`);
}

/** Compares a row with the last release: by its ratio to the floor if it has one, else by its value. */
export function comparison(row: Row, baseline: Baseline | null): string {
  const before = baseline?.measures[row.measure];
  if (before === undefined || before.unit !== row.unit) return 'new';
  const ratio = ratioOf(row);
  const [now, then] = ratio === null || before.ratio === null ? [row.value, before.value] : [ratio, before.ratio];
  if (then === 0) return now === 0 ? 'same' : 'new';
  const change = now / then - 1;
  const percent = `${change < 0 ? '−' : '+'}${Math.round(Math.abs(change) * 100)} %`;
  const isWorse = isMoreBetter(row) ? change < -noise : change > noise;
  return isWorse ? `${percent} WORSE` : percent;
}
