import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { refuseAdopted } from './adopted.ts';

export type KillPlan = {
  /** The agents that die, children before parents. */
  dying: Agent[];
  /** Main children that live on under another supervisor. */
  orphans: Agent[];
};

/** Refuses to kill agent 0, and agents that Pawl did not start. */
export function refuseKill(target: Agent): void {
  refuseAdopted(target);
  if (target.parentId !== null) return;
  throw new PawlError('forbidden', 'Agent 0 cannot be killed: every agent descends from it.', {
    hint: 'Name another agent, or stop all work with `pawl stop --all`.',
  });
}

/**
 * Decides who dies in a kill. With `cascade`, the whole family. Without it, the target and its subagents; other
 * children get a new supervisor. `family` lists children before parents. Dead agents stay dead, but a cascade from one
 * reaches its living descendants.
 */
export function planKill(
  target: Agent,
  family: readonly Agent[],
  supervised: readonly Agent[],
  cascade: boolean,
): KillPlan {
  refuseKill(target);
  if (target.endedAt !== null && !cascade) return { dying: [], orphans: [] };
  const owned = (agent: Agent) => agent.id === target.id || (agent.parentId === target.id && agent.kind === 'subagent');
  const dying = family.filter((agent) => agent.endedAt === null && (cascade || owned(agent)));
  const dead = new Set(dying.map((agent) => agent.id));
  return { dying, orphans: supervised.filter((agent) => agent.endedAt === null && !dead.has(agent.id)) };
}
