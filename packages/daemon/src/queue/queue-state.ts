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
import type { Bench } from '../changes/landing/advance.ts';
import type { Chain, Workbench } from '../changes/guard/chain.ts';
import { buildChain } from '../changes/guard/chain.ts';
import type { Checker } from '../checks/checker.ts';
import { evidenceOf, sinceRecovery, sinceRetries } from '../changes/guard/evidence.ts';
import { changeFacts, projectFacts } from '../changes/facts.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { MergePlace } from '../forge-sync/forge.ts';
import { landedHeads } from '../changes/landing/landed.ts';

/** What one look at a queue works with. */
export type QueueParts = Bench & {
  platform: SessionPlatform;
  config: ProjectConfig;
  checker: Checker;
  /** Where changes are merged when it is not here. */
  forge: MergePlace;
  /** When somebody wished main to be checked anew; null when nobody did, or it is done. */
  askedAt: number | null;
};

/** A queue as it is at one moment: what its next step follows from. */
export type QueueState = {
  queue: Queue;
  bench: Workbench;
  /** Main with the changes that may be merged. */
  chain: Chain;
  /** Changes that may not be merged yet, each by itself on main, oldest first. */
  apart: { change: Change; chain: Chain }[];
  checks: Check[];
  /** A check of one change alone that takes long: it goes on, and the others do not wait for it. */
  slow: Check | null;
  facts: QueueFacts;
};

/** Reads a queue as it is; null when there is nothing that it could do. */
export async function readState(parts: QueueParts): Promise<QueueState | null> {
  const { platform, project, repository, ownDir, target, config } = parts;
  const { db } = platform.store;
  const queue = await queueOf(db, project.id);
  if (queue === null || !config.enabled || config.checks.length === 0) return null;
  const bench: Workbench = { repository, ownDir, method: config.method, caches: platform.caches };
  const running = await openChecks(db);
  const places = placesFor(config, running.filter(({ projectId }) => projectId !== project.id).length);
  const own = running.filter(({ projectId }) => projectId === project.id);
  const slow = own.find((check) => isSlow(check, platform.clock(), parts)) ?? null;
  // A forge merges one change at a time.
  const most = parts.forge === null ? config.batch * places : 1;
  const { mergeable, unasked } = await candidatesOf(parts);
  const landed = await landedHeads(parts);
  const chain = await buildChain(bench, { main: target.tip, changes: firstOf(mergeable, most, slow), landed });
  const apart: QueueState['apart'] = [];
  for (const change of unasked) {
    apart.push({ change, chain: await buildChain(bench, { main: target.tip, changes: [change], landed }) });
  }
  const { checks, evidence } = await evidenceFor(parts, chain);
  return {
    queue,
    bench,
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

/** Reads what is known of the trees of a chain. */
export async function evidenceFor(
  { platform, project, config, askedAt }: QueueParts,
  chain: Chain,
): Promise<{ checks: Check[]; evidence: QueueFacts['evidence'] }> {
  const trees = [chain.mainTree, ...chain.links.map(({ tree }) => tree)];
  const known = await checksOfTrees(platform.store.db, { projectId: project.id, plan: config.plan, trees });
  const changes = chain.links.map(({ change }) => change);
  const checks = sinceRecovery(sinceRetries(known, changes), chain.mainTree);
  const evidence = evidenceOf(checks, askedAt === null ? null : { tree: chain.mainTree, at: askedAt });
  return {
    checks,
    evidence: (tree) => (config.guard.enabled ? evidence(tree) : { ...evidence(tree), counts: null }),
  };
}

/** The links of a chain as the plan knows them. */
export function linksOf({ links }: Chain): QueueFacts['links'] {
  return links.map(({ tree, change }) => ({
    tree,
    isAlone: change.isolatedAt !== null,
    accepted: change.approvedHead === change.head ? change.findings : [],
  }));
}

/** The changes that may be checked, in the order in which they were queued: those that may be merged then, and the others. */
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

/** The changes that go into the next chain. One that has to be checked alone is alone. */
function firstOf(ready: readonly Change[], most: number, slow: Check | null): Change[] {
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
