import { text } from '@pawl/store/facts/fact-column';
import type { FactOf } from '@pawl/store/facts/fact-table';
import { factTable } from '@pawl/store/facts/fact-table';

/** Merges in progress. Each is recorded before it starts, so that it can be completed after a crash. */
export const mergeIntents = factTable('errand_merges', ['agentId'], {
  agentId: text,
  /** The branch that moves, and the commits it moves between. */
  into: text,
  from: text,
  to: text,
});
export type MergeIntent = FactOf<typeof mergeIntents>;
