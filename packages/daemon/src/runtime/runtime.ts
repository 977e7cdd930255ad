import type { Platform } from '../platform/platform.ts';
import type { Reconciler } from '../sessions/reconcile/reconciler.ts';
import type { Following } from './follow-agents.ts';
import { followAgents } from './follow-agents.ts';

export type Runtime = Following;

/** Follows all agents for the clients of the runtime contract. */
export function openRuntime({ store }: Platform, { ingest }: Pick<Reconciler, 'ingest'>): Runtime {
  return followAgents(store, ingest);
}
