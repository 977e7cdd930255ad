import { refuseKill } from '@pawl/core/agents/kill';
import { crashPoint } from '@pawl/schema/crash-point';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { descendants } from '@pawl/store/agents/family';
import type { Killed } from '../registry/kill-record.ts';
import { recordKill } from '../registry/kill-record.ts';
import type { Reconciler } from '../sessions/reconcile/reconciler.ts';
import type { Platform } from '../platform/platform.ts';
import type { Barrier } from './barrier.ts';
import { requeueDead } from '../tasks/tasks.ts';

/**
 * Kills an agent, with `cascade` its whole family. The registry changes first, in one transaction with one event; from
 * then on they are dead, even if this daemon dies, and the reconciler ends their processes and settles their worktrees.
 * A second kill has no effect.
 */
export async function killAgent(
  parts: { platform: Platform; reconciler: Reconciler; barrier: Barrier },
  request: { target: Agent; killer: Agent; cascade: boolean; waitFor: (agent: Agent) => boolean },
): Promise<Killed> {
  const { platform, reconciler, barrier } = parts;
  const { target, cascade } = request;
  refuseKill(target);
  const family = cascade ? await descendants(platform.store.db, target.id) : [target];
  await barrier.settled(family.map((agent) => agent.id));
  const outcome = await platform.store.write((tx) => recordKill(tx, request));
  crashPoint('kill.after_commit');
  if (outcome.killed.length > limits.requeuedTasks) await requeueDead(platform.store);
  await reconciler.endSessions(outcome.killed.filter(request.waitFor).map((agent) => agent.id));
  return outcome;
}
