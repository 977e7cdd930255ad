import type { AgentView } from '@pawl/protocol/agents/view';
import { agentView, chain, idOf, root } from '@pawl/testing/agent-view';
import { expect, test } from 'vitest';
import type { FamilyOptions } from '../../src/agents/family-tree.ts';
import { familyRows } from '../../src/agents/family-tree.ts';

const options = { all: false, current: null, deepest: 16 };

/** The family as plain text, and the counts. */
function familyText(agents: AgentView[], given: FamilyOptions): string[] {
  const { rows, counts } = familyRows(agents, given);
  return [...rows.map(({ branch, line }) => branch + line.map(({ text }) => text).join('')), counts];
}

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
  expect(familyText(agents, { ...options, current: idOf(3) })).toEqual([
    'root idle',
    '├─ a1 waiting_for_input a plan',
    '│  ├─ *a3 idle',
    '│  └─ a4 crashed write',
    '└─ a2 running fix the login [agent0 testing]',
    '   └─ a5 running · runs the tests',
    '5 agents: 2 running, 1 waiting_for_input, 1 crashed, 1 idle',
  ]);
});

test('dead agents with living descendants are shown, and all of them on request [W1-25]', () => {
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
  expect(familyText(agents, options)).toEqual([
    'root idle',
    '└─ a1 idle',
    '   └─ a2 dead',
    '      └─ a3 idle (under a1)',
    '         └─ a4 idle',
    counts,
  ]);
  expect(familyText(agents, { ...options, all: true }).slice(-3)).toEqual(['└─ a5 dead', '   └─ a6 dead', counts]);
});

test('reaped agents are hidden, and their children are under their supervisor', () => {
  const reaped = member(1, 0, { status: 'reaped' });
  const child = member(2, 1, { supervisorId: idOf(0) });
  const expected = ['root idle', '└─ a2 idle (under root)', '1 agent: 1 idle'];
  expect(familyText([child, reaped, root], options)).toEqual(expected);
  expect(familyText([child, root], options)).toEqual(expected);
});

test('without any agent there is agent 0, and without that nothing', () => {
  expect(familyText([root], options)).toEqual(['root idle', '0 agents']);
  expect(familyText([], options)).toEqual(['0 agents']);
});

test('the folded count includes only visible agents', () => {
  const lines = familyText(
    chain(100, (number) => (number > 60 ? dead : {})),
    { ...options, deepest: 10 },
  );
  expect(lines.at(-2)?.trim()).toBe('└─ … 50 deeper');
});

test('5,000 siblings are drawn in order of creation, even with equal times', () => {
  const siblings = Array.from({ length: 5_000 }, (_, index) => member(index + 1, 0)).toReversed();
  const lines = familyText([...siblings, root], options);
  expect(lines).toHaveLength(5_002);
  expect(lines[1]).toBe('├─ a1 idle');
  expect(lines[5_000]).toBe('└─ a5000 idle');
});

test('each row names its agent and generation; a folded one names none', () => {
  const { rows } = familyRows(chain(3), { ...options, deepest: 1 });
  expect(rows.map(({ agentId, generation }) => [agentId, generation])).toEqual([
    [idOf(0), 0],
    [idOf(1), 1],
    [null, 2],
  ]);
});
