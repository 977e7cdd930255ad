import { notAccepted } from '@pawl/core/guard/test-count';
import { PawlError } from '@pawl/schema/error';
import { examineChange } from '../changes/guard/examine.ts';
import { readProjectConfig } from '../project-config/project-config.ts';
import { eject } from '../changes/change-eject.ts';
import { perform } from './queue-acts.ts';
import type { QueueParts, QueueState } from './queue-state.ts';

/**
 * Examines a change once more right before it is merged. It was examined when it was proposed; since then main, the
 * rules, or the rest of its chain may have changed. Main must also keep its checks configured. Returns whether it may
 * be merged; if not, the change was handled.
 */
export async function passesFinalGuard(
  parts: QueueParts,
  state: QueueState,
  { length, to }: { length: number; to: string },
): Promise<boolean> {
  const { platform, project, repository, ownDir, target, config } = parts;
  const [first] = state.chain.links;
  if (first === undefined) return false;
  try {
    await readProjectConfig(platform, project, repository, to);
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    if (length > 1) await perform(parts, state, { do: 'separate', length });
    else await eject(parts, first.change, { kind: 'red', reason: error.message, files: [], checkId: null });
    return false;
  }
  if (!config.guard.enabled) return true;
  const isCounted = state.queue.counts !== null;
  const found = await examineChange(repository, { ownDir, config, base: target.tip, change: { head: to }, isCounted });
  if (length > 1) {
    if (found.findings.length === 0 && !found.removesTests) return true;
    await perform(parts, state, { do: 'separate', length });
    return false;
  }
  const accepted = state.facts.links[0]?.accepted ?? [];
  const findings = notAccepted(found.findings, accepted);
  if (findings.length === 0) return true;
  await perform(parts, state, { do: 'question', index: 0, findings });
  return false;
}
