import type { Agent } from '@pawl/schema/record';
import { describe, expect, test } from 'vitest';
import { planKill, refuseKill } from '../../src/agents/kill.ts';
import { anAgent, idOf } from '../fixture.ts';

/**
 *   root ─ target ─┬─ helper (subagent)
 *                  ├─ worker ─┬─ grandchild
 *                  │          └─ workers-helper (subagent)
 *                  └─ ghost (dead) ─ survivor
 */
function member(name: string, parent: string | null, given: Partial<Agent> = {}): Agent {
  const parentId = parent === null ? null : idOf(parent);
  return anAgent({ id: idOf(name), alias: name, parentId, supervisorId: parentId, ...given });
}

const root = member('root', null);
const target = member('target', 'root');
const helper = member('helper', 'target', { kind: 'subagent' });
const worker = member('worker', 'target');
const grandchild = member('grandchild', 'worker');
const workersHelper = member('workers-helper', 'worker', { kind: 'subagent' });
const ghost = member('ghost', 'target', { endedAt: 5 });
/** Its parent died earlier, so the target supervises it now. */
const survivor = member('survivor', 'ghost', { supervisorId: target.id });
const family = [survivor, workersHelper, grandchild, ghost, worker, helper, target];
const supervised = [helper, worker, survivor];

const names = (agents: Agent[]) => agents.map(({ alias }) => alias);
function plan(cascade: boolean, given: { target?: Agent; family?: Agent[]; supervised?: Agent[] } = {}) {
  const { dying, orphans } = planKill(
    given.target ?? target,
    given.family ?? family,
    given.supervised ?? supervised,
    cascade,
  );
  return { dying: names(dying), orphans: names(orphans) };
}

describe('killing one agent [7.3]', () => {
  test('kills its subagents first; its main children get another supervisor [S1-20, S1-23]', () => {
    expect(plan(false)).toEqual({ dying: ['helper', 'target'], orphans: ['worker', 'survivor'] });
  });

  test('leaves the subagents of a surviving child alive [7.3]', () => {
    expect(plan(false).dying).not.toContain('workers-helper');
  });

  test('orphans agents that it supervised for a dead parent again [S1-23]', () => {
    expect(plan(false).orphans).toContain('survivor');
  });

  test('kills a leaf alone [S1-20]', () => {
    expect(plan(false, { target: grandchild, family: [grandchild], supervised: [] })).toEqual({
      dying: ['grandchild'],
      orphans: [],
    });
  });

  test('kills a subagent without anybody else [S1-19]', () => {
    expect(plan(false, { target: helper, family: [helper], supervised: [] })).toEqual({
      dying: ['helper'],
      orphans: [],
    });
  });
});

describe('a cascade [W1-12, S1-21]', () => {
  test('kills all living descendants, also those below a dead one, and leaves no orphan', () => {
    expect(plan(true)).toEqual({
      dying: ['survivor', 'workers-helper', 'grandchild', 'worker', 'helper', 'target'],
      orphans: [],
    });
  });

  test('kills children before their parents [W1-12]', () => {
    const { dying } = planKill(target, family, supervised, true);
    for (const [index, agent] of dying.entries()) {
      const parent = dying.findIndex(({ id }) => id === agent.parentId);
      if (parent !== -1) expect(parent).toBeGreaterThan(index);
    }
  });

  test('skips the dead, so it counts only the living [W1-12]', () => {
    expect(plan(true).dying).not.toContain('ghost');
  });

  test('of an agent without children is a plain kill', () => {
    const alone = { target: grandchild, family: [grandchild], supervised: [] };
    expect(plan(true, alone)).toEqual(plan(false, alone));
  });
});

describe('refusals, and kills without effect', () => {
  test.each([false, true])('agent 0 cannot be killed; cascade: %s [W1-09]', (cascade) => {
    const error = expect.objectContaining({ code: 'forbidden', hint: expect.stringContaining('stop --all') as string });
    expect(() => planKill(root, [...family, root], [target], cascade)).toThrow(error as Error);
    expect(() => refuseKill(root)).toThrow(error as Error);
    expect(() => refuseKill(target)).not.toThrow();
  });

  test('a second kill changes nothing; a cascade reaches surviving descendants [W1-09]', () => {
    const dead = { ...target, endedAt: 9 };
    const after = { target: dead, family: [...family.slice(0, -1), dead] };
    expect(plan(false, after)).toEqual({ dying: [], orphans: [] });
    const { dying } = plan(true, after);
    expect(dying.length).toBeGreaterThan(0);
    expect(dying).not.toContain(dead.alias);
    const gone = family.map((agent) => ({ ...agent, endedAt: 9 }));
    expect(plan(true, { target: dead, family: gone }).dying).toEqual([]);
  });

  test('no plan changes parents or fork points [7.3]', () => {
    const before = structuredClone(family);
    planKill(target, family, supervised, true);
    planKill(target, family, supervised, false);
    expect(family).toEqual(before);
  });
});
