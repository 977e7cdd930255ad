import type { ProjectDetail } from '@pawl/protocol/projects/view';
import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { everyLivingAgent } from '@pawl/store/agents/agent-views';
import { projectSettings, updateProjectSettings } from '@pawl/store/projects/project-settings';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { Platform } from '../platform/platform.ts';
import type { ProjectCrews } from './project-crew.ts';
import type { Signals } from '../agents/signals.ts';

/** A project with its settings and its number of agents. */
export async function describeProject({ store }: Platform, project: Project): Promise<ProjectDetail> {
  const living = (await everyLivingAgent(store.db)).filter(({ agent }) => agent.projectId === project.id);
  return {
    project,
    settings: await projectSettings(store.db, project.id),
    agents: { living: living.length, atWork: living.filter(({ run }) => run?.outcome === null).length },
  };
}

/**
 * Untracks a project: its crew ends, its queue stops and no work starts there. Nothing is deleted. Refused while agents
 * work; with `force` they are stopped, and can be resumed once it is tracked again.
 */
export async function untrackProject(
  parts: { platform: Platform; signals: Pick<Signals, 'stop'>; crews: Pick<ProjectCrews, 'status' | 'tendOne'> },
  project: Project,
  { force }: { force: boolean },
): Promise<ProjectDetail> {
  const { platform, signals, crews } = parts;
  const { members } = await crews.status(project);
  const crew = new Set(members.map(({ agent }) => agent?.id));
  const views = await everyLivingAgent(platform.store.db);
  const busy = views.filter(
    ({ agent, run }) => agent.projectId === project.id && run?.outcome === null && !crew.has(agent.id),
  );
  if (busy.length > 0 && !force) {
    const aliases = busy.map(({ agent }) => agent.alias).slice(0, 12);
    throw new PawlError('conflict', `${busy.length} of its agents are working: ${aliases.join(', ')}.`, {
      hint: 'Wait until they are done, or use --force: they are stopped and keep their worktrees and branches.',
    });
  }
  await platform.store.write(async (tx) => {
    if ((await projectSettings(tx.db, project.id)).untrackedAt !== null) return;
    await updateProjectSettings(tx, project.id, { untrackedAt: tx.now });
    tx.emit({ type: 'project.configured', projectId: project.id, data: { tracked: false } });
  });
  await crews.tendOne(project);
  for (const { agent } of busy) await signals.stop(agent.id);
  return describeProject(platform, project);
}

/**
 * Tracks an untracked project again, with everything as it was, and requests its crew again. False if it was tracked.
 */
export async function trackAgain(tx: WriteTransaction, project: Project): Promise<boolean> {
  const { untrackedAt, crewWantedAt } = await projectSettings(tx.db, project.id);
  if (untrackedAt === null) return false;
  const wish = crewWantedAt === null ? {} : { crewWantedAt: Math.max(tx.now, crewWantedAt + 1) };
  await updateProjectSettings(tx, project.id, { untrackedAt: null, ...wish });
  tx.emit({ type: 'project.configured', projectId: project.id, data: { tracked: true } });
  return true;
}
