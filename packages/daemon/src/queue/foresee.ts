import type { Side } from '@pawl/core/queue/foresight';
import { conflictWords, pairsThatMeet } from '@pawl/core/queue/foresight';
import { branchTips } from '@pawl/git/repository/branch-tips';
import type { Repository } from '@pawl/git/repository/repository';
import { limits } from '@pawl/schema/limit';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Agent, Project } from '@pawl/schema/record';
import { listAgents } from '@pawl/store/agents/agent-views';
import { agentById } from '@pawl/store/agents/agents';
import { openChanges } from '@pawl/store/changes/changes';
import { queueOf } from '@pawl/store/changes/queues';
import { json, text } from '@pawl/store/facts/fact-column';
import { factTable } from '@pawl/store/facts/fact-table';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import * as z from 'zod';
import { agentIn } from '../platform/places.ts';
import { recordMail, shortBody } from '../mail/mail-record.ts';
import { rootAgent } from '../platform/root-agent.ts';
import type { Platform } from '../platform/platform.ts';
import { recallComparisons } from '../changes/guard/comparisons.ts';

/** The files in which two branches conflict that their authors were told of. */
const foreseenConflicts = factTable('foreseen_conflicts', ['projectId', 'branch', 'otherBranch'], {
  projectId: text,
  branch: text,
  otherBranch: text,
  files: json(z.array(z.string()).catch([])),
});
type Pair = { projectId: string; branch: string; otherBranch: string };

/**
 * Compares the branches of living agents and open changes with each other, and warns both authors of a conflict early.
 * Reports each pair once, and again only for new files.
 */
export async function foreseeConflicts(
  platform: Platform,
  project: Project,
  repository: Repository,
  ownDir: string,
  config: Pick<ProjectConfig, 'enabled'>,
): Promise<void> {
  const queue = config.enabled ? await queueOf(platform.store.db, project.id) : null;
  if (queue === null || queue.seen === null) return;
  const memory = recallComparisons(platform, project.id, { repository, ownDir, main: queue.seen });
  const found = await branchesAtWork(platform, project, repository);
  const changed = await memory.files(found.map(({ tip }) => tip));
  const sides = found
    .map((side): Side => ({ ...side, files: changed.get(side.tip) ?? null }))
    .filter(({ files }) => files === null || files.size > 0);
  for (const [one, other] of pairsThatMeet(sides)) {
    const files = await memory.conflicts(one.tip, other.tip);
    if (files.length > 0) await tell(platform, project, [one, other], files);
  }
  memory.keep();
}

/**
 * The branches to compare: of open changes, oldest first, and of living agents with commits of their own, newest first.
 */
async function branchesAtWork(
  { store: { db } }: Platform,
  project: Project,
  repository: Repository,
): Promise<Omit<Side, 'files'>[]> {
  const changes = (await openChanges(db, project.id)).slice(0, limits.comparedBranches);
  const living = await listAgents(db, { projectId: project.id, limit: limits.pageRows });
  const here = await Promise.all(living.map(({ agent }) => agentIn(db, agent, project.id)));
  const agents = here
    .filter((agent) => agent !== null)
    .filter(
      ({ branch, worktreeReadyAt, completion }) => branch !== null && worktreeReadyAt !== null && completion === null,
    )
    .slice(0, limits.comparedBranches);
  const tips = await branchTips(
    repository,
    agents.map(({ branch }) => branch ?? ''),
  );
  const sides = new Map<string, Omit<Side, 'files'>>();
  for (const { branch, head, agentId, standInId, title } of changes) {
    sides.set(branch, { branch, tip: head, agentId: standInId ?? agentId, purpose: title });
  }
  for (const agent of agents) {
    const branch = agent.branch ?? '';
    const tip = tips.get(branch);
    if (tip === undefined || tip === agent.baseCommit) continue;
    // Includes what its author has committed since it was proposed.
    const known = sides.get(branch);
    sides.set(branch, { branch, tip, agentId: known?.agentId ?? agent.id, purpose: known?.purpose ?? '' });
  }
  return [...sides.values()].slice(0, limits.comparedBranches);
}

/** The purpose of a branch: its change's title, else its author's first assignment. */
async function purposeOf(db: Database, { purpose, agentId }: Side): Promise<string> {
  if (purpose !== '' || agentId === null) return purpose;
  return (await agentById(db, agentId))?.assignment ?? '';
}

/** Tells both authors, if alive, unless they know of all these files. */
async function tell(
  platform: Platform,
  project: Project,
  [one, other]: [Side, Side],
  files: readonly string[],
): Promise<void> {
  const pair: Pair = { projectId: project.id, branch: one.branch, otherBranch: other.branch };
  if (!isNews(await toldBefore(platform.store.db, pair), files)) return;
  await platform.store.write(async (tx) => {
    const told = await toldBefore(tx.db, pair);
    const [first, second] = [await authorOf(tx, one), await authorOf(tx, other)];
    const hearers = [first, second].filter((agent) => agent !== null && isLiving(agent));
    if (!isNews(told, files) || hearers.length === 0) return;
    await foreseenConflicts.deleteBefore(tx, tx.now - limits.foreseenMs);
    await foreseenConflicts.set(tx, { ...pair, files: [...new Set([...told, ...files])] });
    const from = await rootAgent(tx.db);
    for (const [mine, its, author, peer] of [
      [one, other, first, second],
      [other, one, second, first],
    ] as const) {
      if (author === null || !isLiving(author)) continue;
      const purpose = await purposeOf(tx.db, its);
      const words = conflictWords(mine, { branch: its.branch, purpose, alias: peer?.alias ?? null }, files);
      await recordMail(tx, { from, to: author, kind: 'system' }, shortBody(words));
    }
    tx.emit({
      type: 'conflict.predicted',
      projectId: project.id,
      agentId: (first ?? second)?.id ?? null,
      peerId: first === null ? null : (second?.id ?? null),
      data: { branches: [one.branch, other.branch], files: [...files] },
    });
  });
}

/** False once a pair has been told too often, even about new files. */
function isNews(told: readonly string[], files: readonly string[]): boolean {
  return told.length < limits.foreseenFiles && files.some((file) => !told.includes(file));
}

async function toldBefore(db: Database, pair: Pair): Promise<string[]> {
  return (await foreseenConflicts.get(db, pair))?.files ?? [];
}

async function authorOf(tx: WriteTransaction, { agentId }: Side): Promise<Agent | null> {
  return agentId === null ? null : agentById(tx.db, agentId);
}

/** A completed agent reads nothing any more. */
function isLiving({ endedAt, completion, adopted }: Agent): boolean {
  return endedAt === null && completion === null && adopted === null;
}
