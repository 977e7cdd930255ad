import { isEligible } from '@pawl/core/ratchet/change-state';
import type { QueueFacts } from '@pawl/core/ratchet/queue-plan';
import type { Change, Check, Queue } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { ProjectConfig } from '@pawl/schema/project-config';
import { openChanges } from '@pawl/store/changes';
import { checksOfTrees, openChecks } from '@pawl/store/checks';
import { queueOf } from '@pawl/store/queues';
import { availableParallelism } from 'node:os';
import type { Bench } from './advance.ts';
import type { Chain, Workbench } from './chain.ts';
import { buildChain } from './chain.ts';
import type { Checker } from './checker.ts';
import { evidenceOf, sinceRecovery, sinceRetries } from './evidence.ts';
import { changeFacts, projectFacts } from './facts.ts';
import type { MergePlace } from './forge.ts';
import { landedHeads } from './landed.ts';

/** What one look at a queue works with. */
export type QueueParts = Bench & {
  config: ProjectConfig;
  checker: Checker;
  /** Where changes are merged when it is not here. */
  forge: MergePlace;
  wake(agentIds: readonly string[]): void;
  /** When somebody wished main to be checked anew; null when nobody did, or it is done. */
  askedAt: number | null;
};

/** A queue as it is at one moment: what its next step follows from. */
export type QueueState = {
  queue: Queue;
  bench: Workbench;
  chain: Chain;
  checks: Check[];
  /** A check of one change alone that takes long: it goes on, and the others do not wait for it. */
  slow: Check | null;
  facts: QueueFacts;
};

/** Reads a queue as it is; null when there is nothing that it could do. */
export async function readState(parts: QueueParts): Promise<QueueState | null> {
  const { shop, project, repository, ownDir, target, config } = parts;
  const { db } = shop.store;
  const queue = await queueOf(db, project.id);
  if (queue === null || !config.enabled || config.checks.length === 0) return null;
  const bench: Workbench = { repository, ownDir, method: config.method };
  const running = await openChecks(db);
  const places = placesFor(config, running.filter(({ projectId }) => projectId !== project.id).length);
  const own = running.filter(({ projectId }) => projectId === project.id);
  const slow = own.find((check) => isSlow(check, shop.clock(), parts)) ?? null;
  // A forge merges one change at a time.
  const most = parts.forge === null ? config.batch * places : 1;
  const candidates = await candidatesOf(parts, most, slow);
  const landed = await landedHeads(parts);
  const chain = await buildChain(bench, { main: target.tip, changes: candidates, landed });
  const trees = [chain.mainTree, ...chain.links.map(({ tree }) => tree)];
  const known = await checksOfTrees(db, { projectId: project.id, plan: config.plan, trees });
  const changes = chain.links.map(({ change }) => change);
  const checks = sinceRecovery(sinceRetries(known, changes), chain.mainTree);
  const evidence = evidenceOf(checks, parts.askedAt === null ? null : { tree: chain.mainTree, at: parts.askedAt });
  return {
    queue,
    bench,
    chain,
    checks,
    slow,
    facts: {
      main: chain.mainTree,
      links: chain.links.map(({ tree, change }) => ({
        tree,
        isAlone: change.isolatedAt !== null,
        accepted: change.approvedHead === change.head ? change.findings : [],
      })),
      evidence: (tree) => (config.guard.enabled ? evidence(tree) : { ...evidence(tree), counts: null }),
      batch: config.batch,
      places,
      running: own.filter(({ id }) => id !== slow?.id).length,
      lastGreen: queue.green === null ? null : { counts: config.guard.enabled ? queue.counts : null },
      isAsked: parts.askedAt !== null,
      alarm: queue.emergency === null ? 'none' : queue.emergency.commit === target.tip ? 'here' : 'before',
      isAlarmKept: parts.forge?.keepsAlarm ?? false,
    },
  };
}

/** The changes that may go in, in the order in which they were queued. One that has to be checked alone is alone. */
async function candidatesOf(
  { shop, project, config }: QueueParts,
  most: number,
  slow: Check | null,
): Promise<Change[]> {
  const { db } = shop.store;
  const facts = await projectFacts(db, project.id, config);
  const ready: Change[] = [];
  for (const change of await openChanges(db, project.id)) {
    if (isEligible(await changeFacts(db, change, facts))) ready.push(change);
  }
  ready.sort((a, b) => (a.queuedAt ?? 0) - (b.queuedAt ?? 0));
  const [first] = ready;
  const others = ready.filter(({ isolatedAt }) => isolatedAt === null);
  const isWaitedFor = slow === null || !slow.changes.includes(first?.id ?? '') || others.length === 0;
  if (first !== undefined && first.isolatedAt !== null && isWaitedFor) return [first];
  return others.slice(0, Math.min(most, limits.mostBatchChanges));
}

/** Whether a check of one change, upon the main of now, has run for so long that others need not wait for it. */
function isSlow({ changes, onto, plan, startedAt }: Check, now: number, { target, config }: QueueParts): boolean {
  if (changes.length !== 1 || onto !== target.tip || plan !== config.plan || startedAt === null) return false;
  return now - startedAt >= limits.aloneMs;
}

/** How many checks of a project may run at once: what the machine has left, but always one, so that no other project keeps it out. */
function placesFor({ parallel }: ProjectConfig, others: number): number {
  const processors = availableParallelism();
  return Math.max(1, Math.min(parallel ?? processors, processors - others));
}
