import type { AgentView } from '@pawl/protocol/agents/view';
import { expect, test } from 'vitest';
import { drawFamily } from '../../src/view/family-tree.ts';
import { palette, width } from '../../src/terminal/terminal.ts';
import { agentView, chain, idOf, root } from '../agent-view.ts';

const options = { all: false, current: null, columns: 100, colours: palette({}) };

/** An agent of a family: its number, its parent's, and what else is to be said. */
const member = (number: number, parent: number, given: Partial<AgentView> = {}) =>
  agentView({ id: idOf(number), alias: `a${number}`, parentId: idOf(parent), ...given });
const dead = { status: 'dead', activity: 'stopped' } as const;

test('the family is drawn from agent 0 down, oldest children first, with counts [W1-25]', () => {
  const agents = [
    member(5, 2, { activity: 'running', detail: 'runs the tests' }),
    member(4, 1, { activity: 'crashed', assignment: 'write\nthe docs' }),
    member(3, 1),
    member(2, 0, {
      activity: 'running',
      assignment: 'fix the login',
      change: { id: idOf(9), state: 'testing', detail: '' },
    }),
    member(1, 0, { activity: 'waiting_for_input', assignment: 'a plan' }),
    root,
  ];
  expect(drawFamily(agents, { ...options, current: idOf(3) })).toEqual([
    'root idle',
    '├─ a1 waiting_for_input a plan',
    '│  ├─ *a3 idle',
    '│  └─ a4 crashed write',
    '└─ a2 running fix the login [agent0 testing]',
    '   └─ a5 running · runs the tests',
    '5 agents: 2 running, 1 waiting_for_input, 1 crashed, 1 idle',
  ]);
});

test('the dead are shown where somebody living descends from them, and all of them on request [W1-25]', () => {
  const agents = [
    member(6, 5, dead),
    member(5, 0, dead),
    member(4, 3),
    member(3, 2, { supervisorId: idOf(1) }),
    member(2, 1, dead),
    member(1, 0),
    root,
  ];
  const counts = '6 agents: 3 idle, 3 dead';
  expect(drawFamily(agents, options)).toEqual([
    'root idle',
    '└─ a1 idle',
    '   └─ a2 dead',
    '      └─ a3 idle (under a1)',
    '         └─ a4 idle',
    counts,
  ]);
  expect(drawFamily(agents, { ...options, all: true }).slice(-3)).toEqual(['└─ a5 dead', '   └─ a6 dead', counts]);
});

test('the reaped are hidden, and their children stand under whoever looks after them', () => {
  const reaped = member(1, 0, { status: 'reaped' });
  const child = member(2, 1, { supervisorId: idOf(0) });
  const expected = ['root idle', '└─ a2 idle (under root)', '1 agent: 1 idle'];
  expect(drawFamily([child, reaped, root], options)).toEqual(expected);
  expect(drawFamily([child, root], options)).toEqual(expected);
});

test('without any agent there is agent 0, and without that nothing', () => {
  expect(drawFamily([root], options)).toEqual(['root idle', '0 agents']);
  expect(drawFamily([], options)).toEqual(['0 agents']);
});

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

test('what is folded away counts only what would be shown', () => {
  const lines = drawFamily(
    chain(100, (number) => (number > 60 ? dead : {})),
    { ...options, columns: 60 },
  );
  expect(lines.at(-2)?.trim()).toBe('└─ … 50 deeper');
});

test('5,000 siblings are drawn in the order of their birth, though their times are the same', () => {
  const siblings = Array.from({ length: 5_000 }, (_, index) => member(index + 1, 0)).toReversed();
  const lines = drawFamily([...siblings, root], options);
  expect(lines).toHaveLength(5_002);
  expect(lines[1]).toBe('├─ a1 idle');
  expect(lines[5_000]).toBe('└─ a5000 idle');
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
