import { mergeBase } from '@pawl/git/change-diff';
import type { Change } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import { changeById, mergedHeads, openChanges, updateChange } from '@pawl/store/changes';
import { buildChain } from './chain.ts';
import { examineChange } from './examine.ts';
import { noteQuestioned } from './notices.ts';
import type { QueueParts } from './queue-state.ts';

/** Looks at what each change's head does to the gate, once. */
export async function examineAll(parts: QueueParts): Promise<void> {
  const { shop, project, repository, ownDir, config, wake } = parts;
  for (const change of await openChanges(shop.store.db, project.id)) {
    const { head } = change;
    if (change.examinedHead === head) continue;
    const { findings, removesTests } = config.guard.enabled
      ? await examineChange(repository, { ownDir, config, ...(await effectOf(parts, change)) })
      : { findings: [], removesTests: false };
    const told = await shop.store.write(async (tx) => {
      const now = await changeById(tx.db, change.id);
      if (now?.head !== head) return [];
      const isolatedAt = removesTests || findings.length > 0 ? tx.now : null;
      await updateChange(tx, change.id, { examinedHead: head, findings, isolatedAt });
      if (findings.length === 0 || now.approvedHead === head) return [];
      const data = { changeId: change.id, head, findings };
      tx.emit({ type: 'change.questioned', projectId: project.id, agentId: change.agentId, data });
      return noteQuestioned(tx, { shop, project, change: now, findings });
    });
    wake(told);
  }
}

/**
 * What main would gain and lose by a change: main compared with main and the change. What a branch took from another one that
 * was squashed since, and took back, shows only there. Where they do not go together, it is the branch that is looked at.
 */
async function effectOf(
  { shop, project, repository, ownDir, target, config }: QueueParts,
  change: Change,
): Promise<{ base: string; change: { head: string } }> {
  const landed = await mergedHeads(shop.store.db, project.id, limits.landedHeads);
  const bench = { repository, ownDir, method: config.method };
  const [link] = (await buildChain(bench, { main: target.tip, changes: [change], landed })).links;
  if (link !== undefined) return { base: target.tip, change: { head: link.commit } };
  return { base: (await mergeBase(repository, ownDir, target.tip, change.head)) ?? change.base, change };
}
