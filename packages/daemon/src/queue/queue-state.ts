import { isEligible } from '@pawl/core/changes/change-state';
import { mergeLeave } from '@pawl/core/changes/merge-leave';
import type { QueueFacts } from '@pawl/core/queue/queue-plan';
import type { Change, Check, Queue } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { ProjectConfig } from '@pawl/schema/project-config';
import { openChanges } from '@pawl/store/changes/changes';
import { checksOfTrees, openChecks } from '@pawl/store/changes/checks';
import { queueOf } from '@pawl/store/changes/queues';
import { availableParallelism } from 'node:os';
import type { LandingContext } from '../changes/landing/advance.ts';
import type { Chain, ChainContext } from '../changes/guard/chain.ts';
import { buildChain } from '../changes/guard/chain.ts';
import type { Checker } from '../checks/checker.ts';
import { resultsByTree, sinceRecovery, sinceRetries } from '../changes/guard/tree-results.ts';
import { changeFacts, projectFacts } from '../changes/facts.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { MergePlace } from '../forge-sync/forge.ts';
import { landedHeads } from '../changes/landing/landed.ts';

/** The context of one queue pass. */
export type QueueParts = LandingContext & {
  platform: SessionPlatform;
  config: ProjectConfig;
  checker: Checker;
  /** The forge that merges changes; null if they are merged here. */
  forge: MergePlace;
  /** When a new check of main was requested; null if none is pending. */
  askedAt: number | null;
};

/** A snapshot of a queue, from which its next step follows. */
export type QueueState = {
  queue: Queue;
  context: ChainContext;
  /** Main with the changes that may be merged. */
  chain: Chain;
  /** Changes that may not be merged yet, each alone on main, oldest first. */
  apart: { change: Change; chain: Chain }[];
  checks: Check[];
  /** A slow check of a single change: it continues, and others do not wait for it. */
  slow: Check | null;
  facts: QueueFacts;
};

/** Reads a queue's state; null if there is nothing to do. */
export async function readState(parts: QueueParts): Promise<QueueState | null> {
  const { platform, project, repository, ownDir, target, config } = parts;
  const { db } = platform.store;
  const queue = await queueOf(db, project.id);
  if (queue === null || !config.enabled || config.checks.length === 0) return null;
  const context: ChainContext = { repository, ownDir, method: config.method, caches: platform.caches };
  const running = await openChecks(db);
  const places = placesFor(config, running.filter(({ projectId }) => projectId !== project.id).length);
  const own = running.filter(({ projectId }) => projectId === project.id);
  const slow = own.find((check) => isSlow(check, platform.clock(), parts)) ?? null;
  // A forge merges one change at a time.
  const most = parts.forge === null ? config.batch * places : 1;
  const { mergeable, unasked } = await candidatesOf(parts);
  const landed = await landedHeads(parts);
  const chain = await buildChain(context, { main: target.tip, changes: firstOf(mergeable, most, slow), landed });
  const apart: QueueState['apart'] = [];
  for (const change of unasked) {
    apart.push({ change, chain: await buildChain(context, { main: target.tip, changes: [change], landed }) });
  }
  const { checks, evidence } = await evidenceFor(parts, chain);
  return {
    queue,
    context,
    chain,
    apart,
    checks,
    slow,
    facts: {
      main: chain.mainTree,
      links: linksOf(chain),
      evidence,
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

/** Reads the evidence for the trees of a chain. */
export async function evidenceFor(
  { platform, project, config, askedAt }: QueueParts,
  chain: Chain,
): Promise<{ checks: Check[]; evidence: QueueFacts['evidence'] }> {
  const trees = [chain.mainTree, ...chain.links.map(({ tree }) => tree)];
  const known = await checksOfTrees(platform.store.db, { projectId: project.id, plan: config.plan, trees });
  const changes = chain.links.map(({ change }) => change);
  const checks = sinceRecovery(sinceRetries(known, changes), chain.mainTree);
  const evidence = resultsByTree(checks, askedAt === null ? null : { tree: chain.mainTree, at: askedAt });
  return {
    checks,
    evidence: (tree) => (config.guard.enabled ? evidence(tree) : { ...evidence(tree), counts: null }),
  };
}

/** A chain's links for the plan. */
export function linksOf({ links }: Chain): QueueFacts['links'] {
  return links.map(({ tree, change }) => ({
    tree,
    isAlone: change.isolatedAt !== null,
    accepted: change.approvedHead === change.head ? change.findings : [],
  }));
}

/** The changes to check, in queue order: those that may be merged afterwards, and the others. */
async function candidatesOf({
  platform,
  project,
  config,
}: QueueParts): Promise<{ mergeable: Change[]; unasked: Change[] }> {
  const { db } = platform.store;
  const facts = await projectFacts(db, project.id, config);
  const mergeable: Change[] = [];
  const unasked: Change[] = [];
  for (const change of await openChanges(db, project.id)) {
    const { rules, ...rest } = await changeFacts(db, change, facts);
    if (!isEligible({ rules, ...rest })) continue;
    (mergeLeave(change, rules) === 'granted' ? mergeable : unasked).push(change);
  }
  const byQueue = (a: Change, b: Change) => (a.queuedAt ?? 0) - (b.queuedAt ?? 0);
  const isPassed = ({ head, passedHead }: Change) => Number(head === passedHead);
  mergeable.sort(byQueue);
  // Changes that wait for a check come before those that wait for a person.
  unasked.sort((a, b) => isPassed(a) - isPassed(b) || byQueue(a, b));
  return { mergeable, unasked: unasked.slice(0, limits.mostBatchChanges) };
}

/** The changes of the next chain. One that must be checked alone gets a chain of its own. */
function firstOf(ready: readonly Change[], most: number, slow: Check | null): Change[] {
  const [first] = ready;
  const others = ready.filter(({ isolatedAt }) => isolatedAt === null);
  const isWaitedFor = slow === null || !slow.changes.includes(first?.id ?? '') || others.length === 0;
  if (first !== undefined && first.isolatedAt !== null && isWaitedFor) return [first];
  return others.slice(0, Math.min(most, limits.mostBatchChanges));
}

/** True if the check of a single change on the current main has run so long that others need not wait for it. */
function isSlow({ changes, onto, plan, startedAt }: Check, now: number, { target, config }: QueueParts): boolean {
  if (changes.length !== 1 || onto !== target.tip || plan !== config.plan || startedAt === null) return false;
  return now - startedAt >= limits.aloneMs;
}

/**
 * How many checks of a project may run at once: the machine's free slots, but at least one, so that no project starves.
 */
function placesFor({ parallel }: ProjectConfig, others: number): number {
  const processors = availableParallelism();
  return Math.max(1, Math.min(parallel ?? processors, processors - others));
}
