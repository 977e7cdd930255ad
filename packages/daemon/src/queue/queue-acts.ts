import type { QueueStep } from '@pawl/core/queue/queue-plan';
import { notAccepted } from '@pawl/core/guard/test-count';
import type { Change, Finding } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import type { ChangePatch } from '@pawl/store/changes/changes';
import { updateChange } from '@pawl/store/changes/changes';
import { openChecks } from '@pawl/store/changes/checks';
import { updateQueue } from '@pawl/store/changes/queues';
import type { Chain } from '../changes/guard/chain.ts';
import { noteAlarm, noteAlarmOver, noteClosed, noteQuestioned } from '../changes/notices.ts';
import { unmoved } from '../changes/people.ts';
import { eject } from '../changes/change-eject.ts';
import type { QueueParts, QueueState } from './queue-state.ts';

/**
 * Ejects changes that conflict with main, and closes those that main already contains. Returns whether there were any.
 */
export async function settleMisfits(parts: QueueParts, chains: readonly Chain[]): Promise<boolean> {
  let hasChanged = false;
  for (const chain of chains) if (await settleChain(parts, chain)) hasChanged = true;
  return hasChanged;
}

async function settleChain(parts: QueueParts, chain: Chain): Promise<boolean> {
  for (const { change, files } of chain.conflicting) {
    const reason = `it conflicts with ${parts.target.branch} in ${files.slice(0, 5).join(', ')}`;
    await eject(parts, change, { kind: 'conflict', reason, files, checkId: null });
  }
  for (const { change, reason } of chain.broken)
    await eject(parts, change, { kind: 'conflict', reason, files: [], checkId: null });
  for (const change of chain.empty) await closeEmpty(parts, change);
  return chain.conflicting.length + chain.broken.length + chain.empty.length > 0;
}

async function closeEmpty({ platform, project, target }: QueueParts, change: Change): Promise<void> {
  const reason = `${target.branch} already contains it`;
  await platform.store.write(async (tx) => {
    if ((await unmoved(tx.db, change)) === null) return;
    await updateChange(tx, change.id, { closedAt: tx.now, closeReason: reason });
    const data = { changeId: change.id, reason, learnings: null };
    tx.emit({ type: 'change.closed', projectId: project.id, agentId: change.agentId, data });
    await noteClosed(tx, { platform, project, change, reason, learnings: null });
  });
}

type Act = Exclude<QueueStep, { do: 'check' | 'advance' }>;

/** Performs a queue step that is neither a check nor an advance. */
export async function perform(parts: QueueParts, state: QueueState, step: Act): Promise<void> {
  const { chain } = state;
  switch (step.do) {
    case 'sound-alarm':
      return soundAlarm(parts, state);
    case 'end-alarm':
      return endAlarm(parts, state);
    case 'eject': {
      const link = chain.links[step.index];
      if (link === undefined) return;
      const failed = state.checks.findLast(({ tree, outcome }) => tree === link.tree && outcome === 'failed');
      const reason = `the checks fail with it: ${failed?.detail ?? 'see the log'}`;
      return eject(parts, link.change, { kind: 'red', reason, files: [], checkId: failed?.id ?? null });
    }
    case 'set-aside': {
      const change = chain.links[step.index]?.change;
      if (change !== undefined) await updateUnmoved(parts, [change], (now) => ({ isolatedAt: now, queuedAt: now }));
      return;
    }
    case 'separate': {
      const together = chain.links.slice(0, step.length).map(({ change }) => change);
      return updateUnmoved(parts, together, (now) => ({ isolatedAt: now }));
    }
    case 'question':
      return question(parts, chain, step);
    case 'cancel-beyond': {
      const pointless = new Set(chain.links.slice(step.length).map(({ tree }) => tree));
      for (const check of await openChecks(parts.platform.store.db, parts.project.id)) {
        if (pointless.has(check.tree)) await parts.checker.cancel(check.id, 'a shorter chain failed');
      }
      return;
    }
  }
}

async function question(
  { platform, project }: QueueParts,
  chain: Chain,
  { index, findings }: { index: number; findings: Finding[] },
): Promise<void> {
  const change = chain.links[index]?.change;
  if (change === undefined) return;
  await platform.store.write(async (tx) => {
    const now = await unmoved(tx.db, change);
    if (now === null) return;
    // Ask again about what was accepted before, together with the new findings.
    const all = [...notAccepted(now.findings, findings), ...findings];
    await updateChange(tx, change.id, { findings: all, approvedHead: null, isolatedAt: now.isolatedAt ?? tx.now });
    const data = { changeId: change.id, head: change.head, findings: all };
    tx.emit({ type: 'change.questioned', projectId: project.id, agentId: change.agentId, data });
    await noteQuestioned(tx, { platform, project, change: now, findings: all });
  });
}

async function updateUnmoved(
  { platform }: QueueParts,
  changes: readonly Change[],
  patch: (now: number) => ChangePatch,
): Promise<void> {
  await platform.store.write(async (tx) => {
    for (const change of changes)
      if ((await unmoved(tx.db, change)) !== null) await updateChange(tx, change.id, patch(tx.now));
  });
}

async function soundAlarm({ platform, project, target }: QueueParts, { chain, checks }: QueueState): Promise<void> {
  const check = checks.findLast(({ tree, outcome }) => tree === chain.mainTree && outcome === 'failed');
  if (check === undefined) return;
  const commit = target.tip;
  await platform.store.write(async (tx) => {
    const emergency = { commit, checkId: check.id, since: tx.now, fixerId: null, trouble: null };
    await updateQueue(tx, project.id, { emergency, waiting: null });
    tx.emit({ type: 'emergency.started', projectId: project.id, data: { commit, checkId: check.id } });
    await noteAlarm(tx, { platform, project, branch: target.branch, check });
  });
  crashPoint('emergency.after_record');
}

async function endAlarm({ platform, project, target }: QueueParts, { facts }: QueueState): Promise<void> {
  await platform.store.write(async (tx) => {
    const { counts } = facts.evidence(facts.main);
    await updateQueue(tx, project.id, { emergency: null, green: target.tip, counts });
    tx.emit({ type: 'emergency.ended', projectId: project.id, data: { commit: target.tip } });
    await noteAlarmOver(tx, { platform, project, branch: target.branch, commit: target.tip });
  });
}
