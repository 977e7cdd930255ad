import { width } from '@pawl/present/text';
import type { AgentView } from '@pawl/protocol/agents/view';
import { agentView, chain, idOf, root } from '@pawl/testing/agent-view';
import { expect, test } from 'vitest';
import { drawFamily } from '../../src/view/family-tree.ts';
import { palette } from '../../src/terminal/palette.ts';

const options = { all: false, current: null, columns: 100, colours: palette({}) };

/** An agent of a family: its number, its parent's, and what else is to be said. */
const member = (number: number, parent: number, given: Partial<AgentView> = {}) =>
  agentView({ id: idOf(number), alias: `a${number}`, parentId: idOf(parent), ...given });

test.each([
  [1_000, 80],
  [20_000, 120],
])('%i generations are drawn to half the width of %i columns and then folded', (generations, columns) => {
  const lines = drawFamily(chain(generations), { ...options, columns });
  const drawn = Math.floor(columns / 2 / 3);
  expect(lines).toHaveLength(1 + drawn + 2);
  expect(lines.at(-2)?.trim()).toBe(`└─ … ${generations - drawn} deeper`);
  expect(lines.at(-1)).toBe(`${generations} agents: ${generations} idle`);
  expect(Math.max(...lines.map(width))).toBeLessThanOrEqual(columns);
});

test('hostile text stays one line of plain text within the width', () => {
  const hostile = '\u001B[2J\u001B]0;owned\u0007a\r\nb\u202Ec\t漢字😀'.repeat(40);
  const agents = [member(2, 1, { activity: 'running', detail: hostile }), member(1, 0, { assignment: hostile }), root];
  for (const columns of [1, 7, 20, 33, 80, 200]) {
    for (const line of drawFamily(agents, { ...options, columns })) {
      expect(width(line)).toBeLessThanOrEqual(columns);
      // oxlint-disable-next-line no-control-regex -- these are the control characters that must be gone
      expect(line).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u202A-\u202E]/);
    }
  }
});
