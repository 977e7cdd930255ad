import type { Cell, Column } from '@pawl/present/table';
import { tableLines } from '@pawl/present/table';
import type { Palette } from './palette.ts';
import { paintLine } from './palette.ts';

/** Renders an aligned table in its colours. */
export function table(columns: Column[], rows: Cell[][], colours: Palette, lineColumns: number): string {
  return tableLines(columns, rows, lineColumns)
    .map((line) => paintLine(line, colours))
    .join('\n');
}
