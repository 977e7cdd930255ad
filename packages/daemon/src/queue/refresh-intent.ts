import { text } from '@pawl/store/facts/fact-column';
import type { FactOf } from '@pawl/store/facts/fact-table';
import { factTable } from '@pawl/store/facts/fact-table';

/** Worktrees that are being updated. Each is recorded before it starts, so that it can be completed after a crash. */
export const refreshIntents = factTable('refresh_intents', ['agentId'], {
  agentId: text,
  /** The agent's branch, and the commits it moves between. */
  branch: text,
  from: text,
  to: text,
  /** The target branch, and its commit that the agent's branch is moved onto. */
  target: text,
  onto: text,
});
export type RefreshIntent = FactOf<typeof refreshIntents>;

/** Why an agent was last told that its worktree stays behind. */
export const refreshRefusals = factTable('refresh_refusals', ['agentId'], { agentId: text, cause: text });

/** The mail that last told an agent that its branch was moved. */
export const movedNotices = factTable('moved_notices', ['agentId'], { agentId: text, mailId: text });
