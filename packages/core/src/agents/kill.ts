import { PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { refuseAdopted } from './adopted.ts';

export type KillPlan = {
  /** Who dies, children before parents. */
  dying: Agent[];
  /** Main children that live on under another supervisor. */
  orphans: Agent[];
};

/** Refuses those that cannot be killed: agent 0, and whom Pawl did not start. */
export function refuseKill(target: Agent): void {
  refuseAdopted(target);
  if (target.parentId !== null) return;
  throw new PawlError('forbidden', 'Agent 0 cannot be killed: everybody descends from it.', {
    hint: 'Name another agent, or end all work with `pawl stop --all`.',
  });
}

/**
 * Who dies of a kill. With `cascade` that is the whole family; without it the target and its subagents, which belong to
 * it, while its other children live on under somebody else. `family` has children before parents; the dead stay dead, but
 * a cascade from one reaches those who outlived it.
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
