/** The goal of a row: a value, or a ratio to the floor. */
export type Aim = { of: 'value' | 'ratio'; atMost: number } | { of: 'value'; atLeast: number };

/** One line of the table. The floor is measured in the same run, so that the ratio is comparable across machines. */
export type Row = {
  measure: string;
  value: number;
  unit: string;
  floor?: number;
  aims?: Aim[];
  note?: string;
};

/** The ratio of a row to its floor, or null. */
export function ratioOf({ value, floor }: Row): number | null {
  return floor === undefined || floor === 0 ? null : value / floor;
}

/** Whether a larger value is better, as with mails per second. */
export function isMoreBetter({ unit }: Row): boolean {
  return unit.endsWith('/s');
}

/** Whether every goal of a row is met; null if it has none. */
function isMet(row: Row): boolean | null {
  if (row.aims === undefined || row.aims.length === 0) return null;
  return row.aims.every((aim) => {
    const reached = aim.of === 'value' ? row.value : (ratioOf(row) ?? Infinity);
    return 'atMost' in aim ? reached <= aim.atMost : reached >= aim.atLeast;
  });
}

/** Rows as an aligned table, each compared with the last release. */
export function formatTable(rows: readonly Row[], compare: (row: Row) => string): string {
  const head = ['measure', 'ours', 'floor', 'ratio', 'since release', 'aim', 'met', 'note'];
  const body = rows.map((row) => {
    const ratio = ratioOf(row);
    return [
      row.measure,
      amount(row.value, row.unit),
      row.floor === undefined ? '' : amount(row.floor, row.unit),
      ratio === null ? '' : `${rounded(ratio)} ×`,
      compare(row),
      (row.aims ?? []).map((aim) => formatAim(aim, row.unit)).join(', '),
      { true: 'yes', false: 'NO', null: '' }[String(isMet(row)) as 'true' | 'false' | 'null'],
      row.note ?? '',
    ];
  });
  const widths = head.map((title, index) =>
    Math.max(...[head, ...body].map((cells) => (cells[index] ?? title).length)),
  );
  const line = (cells: string[]) => cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ');
  const rule = widths.map((width) => '-'.repeat(width)).join('-|-');
  return [line(head), rule, ...body.map(line)].map((text) => text.trimEnd()).join('\n');
}

/** Rows for a program: measured numbers, with ratio and verdict. */
export function formatJson(
  rows: readonly Row[],
  failures: readonly { measure: string; reason: string }[],
  compare: (row: Row) => string,
): string {
  return JSON.stringify(
    {
      rows: rows.map((row) => ({ ...row, ratio: ratioOf(row), met: isMet(row), sinceRelease: compare(row) })),
      failures,
    },
    null,
    2,
  );
}

function formatAim(aim: Aim, unit: string): string {
  const [sign, bound] = 'atMost' in aim ? ['≤', aim.atMost] : ['≥', aim.atLeast];
  return aim.of === 'ratio' ? `${sign} ${bound} ×` : `${sign} ${amount(bound, unit)}`;
}

function amount(value: number, unit: string): string {
  return `${rounded(value)} ${unit}`;
}

/** A benchmark has no more than three significant digits. */
function rounded(value: number): string {
  return Number(value.toPrecision(value >= 1_000 ? 4 : 3)).toLocaleString('en-US', { maximumFractionDigits: 4 });
}
