import { createLanes } from '@pawl/core/sessions/turn-taking';
import type { CrewView } from '@pawl/protocol/projects/view';
import { crashPoint } from '@pawl/schema/crash-point';
import { isPassing, messageOf } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { projectSettings, updateProjectSettings } from '@pawl/store/projects/project-settings';
import { listProjects } from '@pawl/store/projects/projects';
import type { Store } from '@pawl/store/store';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { Agents } from '../agents/agents.ts';
import type { Barrier } from '../agents/barrier.ts';
import { killAgent } from '../agents/kill.ts';
import { crewRoles } from '../definitions/crew-roles.ts';
import { refuseUntracked } from '../platform/project-settings.ts';
import { rootAgent } from '../platform/root-agent.ts';
import type { Reconciler } from '../sessions/reconcile/reconciler.ts';
import type { CrewGiven, CrewRole } from './crew-member.ts';
import { fillRole, holderOf, memberOf } from './crew-member.ts';

/** The agents that live as long as a project is tracked: supervisor, merge-queue and workspace. */
export type ProjectCrews = {
  /**
   * Starts missing members, including those that a person killed. They stay idle, and cost nothing, until they get
   * mail.
   */
  start(project: Project, given: CrewGiven): Promise<CrewView>;
  /** Ends the members, and starts no others. */
  stop(project: Project): Promise<CrewView>;
  status(project: Project): Promise<CrewView>;
  /** Starts requested members that are missing in every project, and ends those no longer requested. */
  tend(): Promise<void>;
  tendOne(project: Project): Promise<void>;
  /** Like `tendOne`, but logs a failure; the next health check retries. */
  tryOne(project: Project): Promise<void>;
};

type CrewParts = {
  platform: SessionPlatform;
  agents: Pick<Agents, 'view'>;
  reconciler: Reconciler;
  barrier: Barrier;
};

export function createProjectCrews(platform: SessionPlatform, given: Omit<CrewParts, 'platform'>): ProjectCrews {
  const parts: CrewParts = { platform, ...given };
  const { store } = platform;
  const lanes = createLanes();

  async function start(project: Project, given: CrewGiven): Promise<CrewView> {
    await refuseUntracked(store.db, project);
    const missing: CrewRole[] = [];
    for (const role of await crewRoles(platform))
      if ((await holderOf(store.db, project, role)) === null) missing.push(role);
    const { crewWantedAt } = await projectSettings(store.db, project.id);
    // A new request: members that a person killed under the last one are started again.
    const wantedAt = Math.max(platform.clock(), (crewWantedAt ?? 0) + 1);
    for (const role of missing) await fillRole(platform, project, role, { wantedAt, given });
    if (missing.length === 0 && crewWantedAt === null) await want(store, project, wantedAt);
    return statusOf(parts, project);
  }

  async function stop(project: Project): Promise<CrewView> {
    await want(store, project, null);
    crashPoint('crew.after_stop');
    await dismiss(project);
    return statusOf(parts, project);
  }

  async function dismiss(project: Project): Promise<void> {
    const killer = await rootAgent(store.db);
    for (const role of await crewRoles(platform)) {
      const member = await memberOf(store.db, project, role);
      const target = member === null ? null : await agentById(store.db, member.agentId);
      if (target === null || target.endedAt !== null) continue;
      await killAgent(parts, { target, killer, cascade: false, waitFor: () => true });
    }
  }

  /** Completes a start or a stop that a killed daemon had begun. */
  async function settle(project: Project): Promise<void> {
    const { crewWantedAt, untrackedAt } = await projectSettings(store.db, project.id);
    if (crewWantedAt === null || untrackedAt !== null) return dismiss(project);
    for (const role of await crewRoles(platform)) {
      // A member that a person killed stays dead until the crew is started again.
      if ((await memberOf(store.db, project, role))?.wantedAt === crewWantedAt) continue;
      if ((await holderOf(store.db, project, role)) === null)
        await fillRole(platform, project, role, { wantedAt: crewWantedAt, given: {} });
    }
  }

  async function tryOne(project: Project): Promise<void> {
    try {
      await inLane(project, () => settle(project));
    } catch (error) {
      if (isPassing(error)) throw error;
      platform.log.warn({ project: project.name, error: messageOf(error) }, 'the crew is incomplete; will retry');
    }
  }

  const inLane = <T>(project: Project, act: () => Promise<T>) => lanes.run(project.id, act);
  return {
    start: (project, given) => inLane(project, () => start(project, given)),
    stop: (project) => inLane(project, () => stop(project)),
    status: (project) => statusOf(parts, project),
    tendOne: (project) => inLane(project, () => settle(project)),
    tryOne,
    async tend() {
      for (const project of await listProjects(store.db)) await tryOne(project);
    },
  };
}

/** Records that a person wants a crew, or no longer does. */
async function want(store: Store, project: Project, wantedAt: number | null): Promise<void> {
  await store.write(async (tx) => {
    if ((await projectSettings(tx.db, project.id)).crewWantedAt === wantedAt) return;
    await updateProjectSettings(tx, project.id, { crewWantedAt: wantedAt });
    tx.emit({ type: 'project.configured', projectId: project.id, data: { crew: wantedAt !== null } });
  });
}

async function statusOf({ platform, agents }: CrewParts, project: Project): Promise<CrewView> {
  const { crewWantedAt, untrackedAt } = await projectSettings(platform.store.db, project.id);
  const members: CrewView['members'] = [];
  for (const role of await crewRoles(platform)) {
    const holder = await holderOf(platform.store.db, project, role);
    members.push({ role, agent: holder === null ? null : await agents.view(holder.id) });
  }
  return { project, wanted: crewWantedAt !== null && untrackedAt === null, members };
}
