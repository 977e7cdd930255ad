import type { Queue } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Agent, Project } from '@pawl/schema/record';
import { readCheckEnd } from '@pawl/store/changes/check-output';
import { recordKill } from '../registry/kill-record.ts';
import { rootAgent } from '../platform/root-agent.ts';
import type { CrewParts } from './repair/staff.ts';
import { viewOfAgent } from './repair/staff.ts';

/** One project's queue, as those around it see it. */
export type Scene = { project: Project; config: ProjectConfig; queue: Queue };

/** The branch that changes go to, as an agent's worktree knows it. */
export function targetOf({ queue, config }: Scene): { branch: string; remote: string | null } {
  return { branch: queue.branch, remote: config.remote };
}

/** The end of what a check has printed. */
export async function outputOf({ platform }: CrewParts, checkId: string): Promise<string> {
  const { chunks } = await readCheckEnd(platform.store.db, checkId, limits.noticeReadBytes);
  return Buffer.concat(chunks.map(({ bytes }) => bytes)).toString('utf8');
}

/** Ends somebody whose work nobody waits for any more, unless it has come to rest. What it has not committed is kept. */
export async function dismissIfAtWork(parts: CrewParts, agentId: string): Promise<void> {
  const view = await viewOfAgent(parts, agentId);
  if (view !== null && view.agent.endedAt === null && view.run?.outcome === null) await dismiss(parts, view.agent);
}

/** Ends somebody who was put to something that is not needed any more, before anybody knew of it. */
export async function dismiss({ platform }: CrewParts, agent: Agent): Promise<void> {
  await platform.store.write(async (tx) => {
    const killer = await rootAgent(tx.db);
    return recordKill(tx, { target: agent, killer, cascade: true, reason: 'what it was for is done' });
  });
}
