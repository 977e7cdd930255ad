import { isEligible } from '@pawl/core/ratchet/change-state';
import type { QueueStep } from '@pawl/core/ratchet/queue-plan';
import { planQueue } from '@pawl/core/ratchet/queue-plan';
import { mergeBase } from '@pawl/git/change-diff';
import { treeOf } from '@pawl/git/merge-step';
import { importCommits } from '@pawl/git/queue-objects';
import type { Change, Check, Ejection, Finding, Queue } from '@pawl/schema/change';
import { crashPoint } from '@pawl/schema/crash-point';
import { limits } from '@pawl/schema/limit';
import type { ProjectConfig } from '@pawl/schema/project-config';
import { changeById, mergedHeads, openChanges, updateChange } from '@pawl/store/changes';
import { checksOfTrees, openChecks } from '@pawl/store/checks';
import { queueOf, updateQueue } from '@pawl/store/queues';
import { availableParallelism } from 'node:os';
import type { Advanced, Bench } from './advance.ts';
import { advance, recordMerged } from './advance.ts';
import type { Chain, Workbench } from './chain.ts';
import { buildChain, commitOfChain, messageOfChange } from './chain.ts';
import type { Checker } from './checker.ts';
import { evidenceOf } from './evidence.ts';
import { examineChange } from './examine.ts';
import { changeFacts, projectFacts } from './facts.ts';
import type { ForgeLink } from './forge.ts';
import { mergeOnForge } from './forge-merge.ts';
import { noteAlarm, noteAlarmOver, noteClosed, noteEjected, noteQuestioned } from './notices.ts';

/** What one look at a queue works with. */
export type QueueParts = Bench & {
  config: ProjectConfig;
  checker: Checker;
  /** Where changes are merged when it is not here. */
  forge: ForgeLink | null;
  wake(agentIds: readonly string[]): void;
  /** When somebody wished main to be checked anew; null when nobody did, or it is done. */
  askedAt: number | null;
};

/** What a look ended with: how soon it is to look again, if by itself, and whether main was checked as somebody wished. */
export type Looked = { againMs: number | null; isAnswered: boolean };

/**
 * Looks at a project's queue and does what is to be done now; to be called in the project's lane. Each step leaves facts
 * from which the next look goes on, so it may end anywhere.
 */
export async function lookAtQueue(parts: QueueParts): Promise<Looked> {
  await examineAll(parts);
  for (let steps = 0; steps < limits.queueSteps; steps += 1) {
    const state = await readState(parts);
    if (state === null) return { againMs: null, isAnswered: true };
    if (await settleMisfits(parts, state.chain)) continue;
    await noteMain(parts, state);
    const plan = state.queue.pausedAt === null ? planQueue(state.facts) : [];
    const [first] = plan;
    if (first === undefined || first.do === 'check') {
      await cancelStale(parts, state);
      await startChecks(parts, state, plan);
      await waitFor(parts, state.queue, null);
      const main = state.facts.evidence(state.facts.main);
      return { againMs: null, isAnswered: main.isGreen || main.reds >= 2 };
    }
    if (first.do === 'advance') return advanceTo(parts, state, first.length);
    await perform(parts, state, first);
  }
  return { againMs: parts.shop.timing.queueWaitMs, isAnswered: false };
}

type State = {
  queue: Queue;
  bench: Workbench;
  chain: Chain;
  checks: Check[];
  facts: Parameters<typeof planQueue>[0];
};

async function readState(parts: QueueParts): Promise<State | null> {
  const { shop, project, repository, ownDir, target, config } = parts;
  const { db } = shop.store;
  const queue = await queueOf(db, project.id);
  if (queue === null || !config.enabled || config.checks.length === 0) return null;
  const bench: Workbench = { repository, ownDir, method: config.method };
  const places = Math.min(config.parallel ?? availableParallelism(), availableParallelism());
  // A forge merges one change at a time.
  const candidates = await candidatesOf(parts, parts.forge === null ? config.batch * places : 1);
  const landed = await mergedHeads(db, project.id, limits.landedHeads);
  const chain = await buildChain(bench, { main: target.tip, changes: candidates, landed });
  const trees = [chain.mainTree, ...chain.links.map(({ tree }) => tree)];
  const checks = await checksOfTrees(db, { projectId: project.id, plan: config.plan, trees });
  const running = await openChecks(db);
  const evidence = evidenceOf(checks, parts.askedAt === null ? null : { tree: chain.mainTree, at: parts.askedAt });
  return {
    queue,
    bench,
    chain,
    checks,
    facts: {
      main: chain.mainTree,
      links: chain.links.map(({ tree, change }) => ({
        tree,
        isAlone: change.isolatedAt !== null,
        isApproved: change.approvedHead === change.head,
      })),
      evidence: (tree) => (config.guard.enabled ? evidence(tree) : { ...evidence(tree), counts: null }),
      batch: config.batch,
      places,
      running: running.length,
      lastGreen: queue.green === null ? null : { counts: config.guard.enabled ? queue.counts : null },
      isAsked: parts.askedAt !== null,
      alarm: queue.emergency === null ? 'none' : queue.emergency.commit === target.tip ? 'here' : 'before',
    },
  };
}

/** The changes that may go in, in the order in which they were queued. One that has to be checked alone is alone. */
async function candidatesOf({ shop, project, config }: QueueParts, most: number): Promise<Change[]> {
  const { db } = shop.store;
  const facts = await projectFacts(db, project.id, config);
  const ready: Change[] = [];
  for (const change of await openChanges(db, project.id)) {
    if (isEligible(await changeFacts(db, change, facts))) ready.push(change);
  }
  ready.sort((a, b) => (a.queuedAt ?? 0) - (b.queuedAt ?? 0));
  const [first] = ready;
  if (first !== undefined && first.isolatedAt !== null) return [first];
  return ready.filter(({ isolatedAt }) => isolatedAt === null).slice(0, Math.min(most, limits.mostBatchChanges));
}

/** Looks at what each change's head does to the gate, once. */
async function examineAll({ shop, project, repository, ownDir, target, config, wake }: QueueParts): Promise<void> {
  for (const change of await openChanges(shop.store.db, project.id)) {
    const { head } = change;
    if (change.examinedHead === head) continue;
    const base = (await mergeBase(repository, ownDir, target.tip, head)) ?? change.base;
    const { findings, removesTests } = config.guard.enabled
      ? await examineChange(repository, { ownDir, change, base, config })
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

/** Puts out what conflicts with main, and closes what main has already. Returns whether there was any. */
async function settleMisfits(parts: QueueParts, chain: Chain): Promise<boolean> {
  for (const { change, files } of chain.conflicting) {
    const reason = `it conflicts with ${parts.target.branch} in ${files.slice(0, 5).join(', ')}`;
    await eject(parts, change, { kind: 'conflict', reason, files, checkId: null });
  }
  for (const change of chain.empty) await closeEmpty(parts, change);
  return chain.conflicting.length + chain.empty.length > 0;
}

async function closeEmpty({ shop, project, target, wake }: QueueParts, change: Change): Promise<void> {
  const reason = `${target.branch} has all of it already`;
  const told = await shop.store.write(async (tx) => {
    await updateChange(tx, change.id, { closedAt: tx.now, closeReason: reason });
    const data = { changeId: change.id, reason, learnings: null };
    tx.emit({ type: 'change.closed', projectId: project.id, agentId: change.agentId, data });
    return noteClosed(tx, { shop, project, change, reason, learnings: null });
  });
  wake(told);
}

async function eject(parts: QueueParts, change: Change, why: Omit<Ejection, 'at' | 'head'>): Promise<void> {
  const { shop, project } = parts;
  const { head } = change;
  const told = await shop.store.write(async (tx) => {
    const now = await changeById(tx.db, change.id);
    if (now?.head !== head || now.mergedAt !== null || now.closedAt !== null) return [];
    const ejection: Ejection = { ...why, head, at: tx.now };
    await updateChange(tx, change.id, { ejection });
    const { kind, reason, checkId } = ejection;
    const data = { changeId: change.id, head, kind, reason, checkId };
    tx.emit({ type: 'change.ejected', projectId: project.id, agentId: change.agentId, data });
    return noteEjected(tx, { shop, project, change: now, ejection });
  });
  crashPoint('queue.after_eject');
  parts.wake(told);
}

type Perform = Exclude<QueueStep, { do: 'check' | 'advance' }>;

async function perform(parts: QueueParts, state: State, step: Perform): Promise<void> {
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
      if (change === undefined) return;
      await parts.shop.store.write((tx) => updateChange(tx, change.id, { isolatedAt: tx.now, queuedAt: tx.now }));
      return;
    }
    case 'separate': {
      const together = chain.links.slice(0, step.length);
      await parts.shop.store.write(async (tx) => {
        for (const { change } of together) await updateChange(tx, change.id, { isolatedAt: tx.now });
      });
      return;
    }
    case 'question':
      return question(parts, chain, step);
    case 'cancel-beyond': {
      const pointless = new Set(chain.links.slice(step.length).map(({ tree }) => tree));
      for (const check of await openChecks(parts.shop.store.db, parts.project.id)) {
        if (pointless.has(check.tree)) await parts.checker.cancel(check.id, 'a shorter chain failed');
      }
      return;
    }
  }
}

async function question(
  { shop, project, wake }: QueueParts,
  chain: Chain,
  { index, findings }: { index: number; findings: Finding[] },
): Promise<void> {
  const change = chain.links[index]?.change;
  if (change === undefined) return;
  const told = await shop.store.write(async (tx) => {
    await updateChange(tx, change.id, { findings, isolatedAt: change.isolatedAt ?? tx.now });
    const data = { changeId: change.id, head: change.head, findings };
    tx.emit({ type: 'change.questioned', projectId: project.id, agentId: change.agentId, data });
    return noteQuestioned(tx, { shop, project, change, findings });
  });
  wake(told);
}

async function soundAlarm({ shop, project, target, wake }: QueueParts, { chain, checks }: State): Promise<void> {
  const check = checks.findLast(({ tree, outcome }) => tree === chain.mainTree && outcome === 'failed');
  if (check === undefined) return;
  const commit = target.tip;
  const told = await shop.store.write(async (tx) => {
    const emergency = { commit, checkId: check.id, since: tx.now, fixerId: null };
    await updateQueue(tx, project.id, { emergency, waiting: null });
    tx.emit({ type: 'emergency.started', projectId: project.id, data: { commit, checkId: check.id } });
    return noteAlarm(tx, { shop, project, branch: target.branch, check });
  });
  crashPoint('emergency.after_record');
  wake(told);
}

async function endAlarm({ shop, project, target, wake }: QueueParts, { facts }: State): Promise<void> {
  const told = await shop.store.write(async (tx) => {
    const { counts } = facts.evidence(facts.main);
    await updateQueue(tx, project.id, { emergency: null, green: target.tip, counts });
    tx.emit({ type: 'emergency.ended', projectId: project.id, data: { commit: target.tip } });
    return noteAlarmOver(tx, { shop, project, branch: target.branch, commit: target.tip });
  });
  wake(told);
}

/** Ends checks of trees that nobody wants any more: main has moved, or a change was withdrawn. */
async function cancelStale({ shop, project, checker, config }: QueueParts, { chain }: State): Promise<void> {
  const wanted = new Set([chain.mainTree, ...chain.links.map(({ tree }) => tree)]);
  for (const check of await openChecks(shop.store.db, project.id)) {
    if (wanted.has(check.tree) && check.plan === config.plan) continue;
    await checker.cancel(check.id, 'nobody needs its result any more');
  }
}

async function startChecks(
  { project, repository, ownDir, config, checker, target }: QueueParts,
  { chain, bench }: State,
  plan: readonly QueueStep[],
): Promise<void> {
  for (const step of plan) {
    if (step.do !== 'check') continue;
    const links = step.what === 'main' ? [] : chain.links.slice(0, step.what);
    const commit = await commitOfChain(bench, chain, links.length);
    const tree = links.at(-1)?.tree ?? chain.mainTree;
    const changes = links.map(({ change }) => change.id);
    // The person's own git may prune what no branch leads to: what is checked is kept.
    await importCommits(repository, ownDir, { tips: [commit], not: [target.tip] });
    await checker.start({ project, repository, commit, tree, onto: target.tip, changes, config });
  }
}

async function advanceTo(parts: QueueParts, state: State, length: number): Promise<Looked> {
  const { target } = parts;
  const { chain, checks, queue } = state;
  const links = chain.links.slice(0, length);
  const tree = links.at(-1)?.tree;
  const check = checks.findLast((each) => each.tree === tree && each.outcome === 'passed');
  if (check === undefined) throw new Error(`no check of the tree ${tree} has passed`);
  const to = await commitOfChain(state.bench, chain, length);
  const changes = links.map(({ change }) => ({ id: change.id, head: change.head }));
  const wanted = { from: target.tip, to, checkId: check.id, changes };
  const done = parts.forge === null ? await advance(parts, wanted) : await advanceOnForge(parts, parts.forge, wanted);
  if (done.is === 'moved') parts.wake(done.wake);
  if (done.is !== 'waiting') return { againMs: 0, isAnswered: false };
  await waitFor(parts, queue, { reason: done.reason, changes: changes.map(({ id }) => id) });
  return { againMs: parts.shop.timing.queueWaitMs, isAnswered: false };
}

/** Lets the forge merge a change. What it makes of it is looked at as somebody else's push is, unless it is what was checked. */
async function advanceOnForge(
  parts: QueueParts,
  link: ForgeLink,
  wanted: NonNullable<Queue['advance']>,
): Promise<Advanced> {
  const { shop, repository, ownDir, config } = parts;
  const change = await changeById(shop.store.db, wanted.changes[0]?.id ?? '');
  if (change === null) return { is: 'behind' };
  const done = await mergeOnForge({ ...parts, config, link }, change, messageOfChange(change));
  if (done.is !== 'merged') return done;
  const [made, checked] = [done.commit, wanted.to].map((commit) => treeOf(repository, ownDir, commit));
  const isChecked = (await made) === (await checked);
  return { is: 'moved', wake: await recordMerged(parts, { ...wanted, to: done.commit }, isChecked) };
}

/** Notes what a green result waits for, or that none does. */
async function waitFor({ shop, project }: QueueParts, queue: Queue, waiting: Queue['waiting']): Promise<void> {
  if (JSON.stringify(waiting) === JSON.stringify(queue.waiting)) return;
  await shop.store.write(async (tx) => {
    await updateQueue(tx, project.id, { waiting });
    if (waiting === null || waiting.reason === queue.waiting?.reason) return;
    tx.emit({ type: 'queue.waiting', projectId: project.id, data: { reason: waiting.reason } });
  });
}

/** Remembers the last main that was green, with how many tests it ran: what later changes are measured by. */
async function noteMain({ shop, project, target }: QueueParts, { queue, facts }: State): Promise<void> {
  const { isGreen, counts } = facts.evidence(facts.main);
  if (!isGreen || queue.emergency !== null) return;
  if (queue.green === target.tip && JSON.stringify(queue.counts) === JSON.stringify(counts)) return;
  await shop.store.write((tx) => updateQueue(tx, project.id, { green: target.tip, counts }));
}
