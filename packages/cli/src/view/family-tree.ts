import { branchColumns, familyRows } from '@pawl/present/agents/family-tree';
import type { AgentView } from '@pawl/protocol/agents/view';
import type { Palette } from '../terminal/palette.ts';
import { cut, paintLine } from '../terminal/palette.ts';

export type TreeOptions = { all: boolean; current: string | null; columns: number; colours: Palette };

/** Draws the family of agents as lines, branches in the left half at most, and a last line with counts. */
export function drawFamily(agents: AgentView[], { all, current, columns, colours }: TreeOptions): string[] {
  const deepest = Math.max(1, Math.floor(columns / 2 / branchColumns));
  const { rows, counts } = familyRows(agents, { all, current, deepest });
  const lines = rows.map(({ branch, line }) => colours.dim(branch) + paintLine(line, colours));
  return [...lines, colours.dim(counts)].map((line) => cut(line, columns));
}
