import type { Queue } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Agent, Project } from '@pawl/schema/record';
import { readCheckEnd } from '@pawl/store/changes/check-output';
import { recordKill } from '../registry/kill-record.ts';
import { rootAgent } from '../platform/root-agent.ts';
import type { RepairParts } from './repair/staff.ts';
import { viewOfAgent } from './repair/staff.ts';

/** The state of one project's queue. */
export type QueueContext = { project: Project; config: ProjectConfig; queue: Queue };

/** The target branch as an agent's worktree knows it. */
export function targetOf({ queue, config }: QueueContext): { branch: string; remote: string | null } {
  return { branch: queue.branch, remote: config.remote };
}

/** The end of a check's output. */
export async function outputOf({ platform }: RepairParts, checkId: string): Promise<string> {
  const { chunks } = await readCheckEnd(platform.store.db, checkId, limits.noticeReadBytes);
  return Buffer.concat(chunks.map(({ bytes }) => bytes)).toString('utf8');
}

/** Kills an agent whose work is no longer needed, unless it is idle. Its uncommitted work is kept. */
export async function dismissIfAtWork(parts: RepairParts, agentId: string): Promise<void> {
  const view = await viewOfAgent(parts, agentId);
  if (view !== null && view.agent.endedAt === null && view.run?.outcome === null) await dismiss(parts, view.agent);
}

/** Kills an agent that was started for something that is no longer needed. */
export async function dismiss({ platform }: RepairParts, agent: Agent): Promise<void> {
  await platform.store.write(async (tx) => {
    const killer = await rootAgent(tx.db);
    return recordKill(tx, { target: agent, killer, cascade: true, reason: 'what it was for is done' });
  });
}
