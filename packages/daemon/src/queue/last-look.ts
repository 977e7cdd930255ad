import { notAccepted } from '@pawl/core/guard/test-count';
import { PawlError } from '@pawl/schema/error';
import { examineChange } from '../changes/guard/examine.ts';
import { readProjectConfig } from '../project-config/project-config.ts';
import { eject } from '../changes/change-eject.ts';
import { perform } from './queue-acts.ts';
import type { QueueParts, QueueState } from './queue-state.ts';

/**
 * The last look at what is about to go in: what main gains and loses by it now. A change was examined when it was proposed;
 * since then main, the rules, or what it was put together with may have changed. Also main has to say by what it is
 * checked, afterwards as before. Returns whether it may go in; if not, something has been done about it.
 */
export async function passesLastLook(
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
