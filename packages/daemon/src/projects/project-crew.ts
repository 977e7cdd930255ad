import { createLanes } from '@pawl/core/sessions/turn-taking';
import type { CrewView } from '@pawl/protocol/view/project';
import { checkoutOf } from '@pawl/git/merge/advance';
import { branchTip, listBranches } from '@pawl/git/repository/repository';
import { crashPoint } from '@pawl/schema/crash-point';
import { isPassing, messageOf } from '@pawl/schema/error';
import { idSchema } from '@pawl/schema/id';
import type { Agent, Project } from '@pawl/schema/record';
import { agentById, livingAliases, takenAliases } from '@pawl/store/agents/agents';
import { livingColleagues } from '@pawl/store/agents/colleagues';
import { projectSettings, updateProjectSettings } from '@pawl/store/projects/project-settings';
import { listProjects } from '@pawl/store/projects/projects';
import { getSetting, setSetting } from '@pawl/store/settings';
import type { Database } from '@pawl/store/tables';
import * as z from 'zod';
import type { Reconciler } from '../sessions/reconcile/reconciler.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import { crewRoles } from '../definitions/crew-roles.ts';
import { repositoryOf } from '../platform/platform.ts';
import type { Agents } from '../agents/agents.ts';
import type { Barrier } from '../agents/barrier.ts';
import { targetCommit } from '../project-config/base-commit.ts';
import type { Resting } from '../agents/add-child.ts';
import { forkAndExec } from '../agents/fork.ts';
import { killAgent } from '../agents/kill.ts';
import { refuseUntracked } from '../platform/project-settings.ts';
import { rootAgent } from '../platform/root-agent.ts';

/** A role of a crew: the id of a definition. */
type CrewRole = string;

/** A person's choices for the agents of a crew. */
export type CrewGiven = {
  provider?: string | undefined;
  environment?: Record<string, string> | undefined;
  searchPath?: string | undefined;
};

/** The agents that live as long as a project is tracked: supervisor, merge-queue and workspace. */
export type ProjectCrews = {
  /** Starts those that are missing, also those that a person has killed. They stay idle, and cost nothing, until they get mail. */
  start(project: Project, given: CrewGiven): Promise<CrewView>;
  /** Ends them, and starts no others. */
  stop(project: Project): Promise<CrewView>;
  status(project: Project): Promise<CrewView>;
  /** Starts what is wanted and missing in every project, and ends what is not wanted any more. */
  tend(): Promise<void>;
  /** The same for one project. */
  tendOne(project: Project): Promise<void>;
  /** The same, except that a failure is logged; the next health check tries again. */
  tryOne(project: Project): Promise<void>;
};

/** The agent that has a role, and the wish for a crew that it was started for. */
const memberSchema = z.object({ wantedAt: z.number(), agentId: idSchema });
type Member = z.infer<typeof memberSchema>;

const memberKey = (projectId: string, role: CrewRole) => `crew:${projectId}:${role}`;

/** The crews of one daemon. */
export function createProjectCrews(
  platform: SessionPlatform,
  parts: { agents: Pick<Agents, 'view'>; reconciler: Reconciler; barrier: Barrier },
): ProjectCrews {
  const { store } = platform;
  const lanes = createLanes();

  async function start(project: Project, given: CrewGiven): Promise<CrewView> {
    await refuseUntracked(store.db, project);
    const missing: CrewRole[] = [];
    for (const role of await crewRoles(platform)) if ((await holderOf(project, role)) === null) missing.push(role);
    const { crewWantedAt } = await projectSettings(store.db, project.id);
    // A new wish: members that a person killed under the last one are started again.
    const wantedAt = Math.max(platform.clock(), (crewWantedAt ?? 0) + 1);
    for (const role of missing) await fill(project, role, wantedAt, given);
    if (missing.length === 0 && crewWantedAt === null) await want(project, wantedAt);
    return status(project);
  }

  async function want(project: Project, wantedAt: number | null): Promise<void> {
    await store.write(async (tx) => {
      if ((await projectSettings(tx.db, project.id)).crewWantedAt === wantedAt) return;
      await updateProjectSettings(tx, project.id, { crewWantedAt: wantedAt });
      tx.emit({ type: 'project.configured', projectId: project.id, data: { crew: wantedAt !== null } });
    });
  }

  /** Forks the agent of one role. The wish, the agent and whose role it is are one transaction: a refusal leaves no wish behind. */
  async function fill(project: Project, role: CrewRole, wantedAt: number, given: CrewGiven): Promise<void> {
    const { branch, base } = await placeFor(project, role);
    const body = {
      path: project.root,
      task: '',
      definition: role,
      alias: await aliasFor(project, role),
      base,
      ...(given.provider === undefined ? {} : { provider: given.provider }),
      ...(given.environment === undefined ? {} : { environment: given.environment }),
      ...(given.searchPath === undefined ? {} : { searchPath: given.searchPath }),
    };
    const actor = { agent: await rootAgent(store.db), isPerson: true };
    const resting: Resting = {
      branch,
      async record(tx, { id }) {
        await setSetting(tx, memberKey(project.id, role), { wantedAt, agentId: id } satisfies Member);
        const { crewWantedAt } = await projectSettings(tx.db, project.id);
        if (crewWantedAt === wantedAt) return;
        await updateProjectSettings(tx, project.id, { crewWantedAt: wantedAt });
        if (crewWantedAt === null) tx.emit({ type: 'project.configured', projectId: project.id, data: { crew: true } });
      },
    };
    await forkAndExec(platform, actor, body, `crew:${project.id}:${role}:${wantedAt}`, { resting });
    crashPoint('crew.after_member');
  }

  /** Supervisor and merge-queue read where changes go to; a workspace keeps its branch, if it had one. */
  async function placeFor(project: Project, role: CrewRole): Promise<{ branch: string | null; base: string }> {
    const repository = await repositoryOf(platform, project);
    const base = await targetCommit(platform, project, repository);
    if (role !== 'workspace') return { branch: null, base };
    for (let number = 1; ; number++) {
      const branch = `workspace/${project.name}${number === 1 ? '' : `-${number}`}`;
      if ((await checkoutOf(repository, branch)) !== null) continue;
      return { branch, base: (await branchTip(repository, branch)) ?? base };
    }
  }

  /** The role's own name, or, when that is taken, with the project's. */
  async function aliasFor(project: Project, role: CrewRole): Promise<string> {
    const branches = await listBranches(await repositoryOf(platform, project), 'work/');
    const taken = new Set([
      ...(await livingAliases(store.db)),
      ...(await takenAliases(store.db, project.id)),
      ...branches.map(({ name }) => name.slice('work/'.length)),
    ]);
    const withProject = `${role}-${project.name}`.slice(0, 56);
    for (let number = 0; ; number++) {
      const alias = number === 0 ? role : number === 1 ? withProject : `${withProject}-${number}`;
      if (!taken.has(alias)) return alias;
    }
  }

  async function memberOf(db: Database, project: Project, role: CrewRole): Promise<Member | null> {
    const found = memberSchema.safeParse(await getSetting(db, memberKey(project.id, role)));
    return found.success ? found.data : null;
  }

  /** The holder of a role: the crew's member, or an agent that a person started for it. */
  async function holderOf(project: Project, role: CrewRole): Promise<Agent | null> {
    const member = await memberOf(store.db, project, role);
    const agent = member === null ? null : await agentById(store.db, member.agentId);
    if (agent !== null && agent.endedAt === null) return agent;
    const others = await livingColleagues(store.db, project.id);
    const other = others.find(
      (each) => each.agent.definition === role && each.agent.class === 'persistent' && each.agent.adopted === null,
    );
    return other?.agent ?? null;
  }

  async function status(project: Project): Promise<CrewView> {
    const { crewWantedAt, untrackedAt } = await projectSettings(store.db, project.id);
    const members: CrewView['members'] = [];
    for (const role of await crewRoles(platform)) {
      const holder = await holderOf(project, role);
      members.push({ role, agent: holder === null ? null : await parts.agents.view(holder.id) });
    }
    return { project, wanted: crewWantedAt !== null && untrackedAt === null, members };
  }

  async function stop(project: Project): Promise<CrewView> {
    await want(project, null);
    crashPoint('crew.after_stop');
    await dismiss(project);
    return status(project);
  }

  async function dismiss(project: Project): Promise<void> {
    const killer = await rootAgent(store.db);
    for (const role of await crewRoles(platform)) {
      const member = await memberOf(store.db, project, role);
      const target = member === null ? null : await agentById(store.db, member.agentId);
      if (target === null || target.endedAt !== null) continue;
      await killAgent({ platform, ...parts }, { target, killer, cascade: false, waitFor: () => true });
    }
  }

  /** Finishes a start or a stop that a killed daemon had begun. */
  async function settle(project: Project): Promise<void> {
    const { crewWantedAt, untrackedAt } = await projectSettings(store.db, project.id);
    if (crewWantedAt === null || untrackedAt !== null) return dismiss(project);
    for (const role of await crewRoles(platform)) {
      // A member that a person killed stays dead until the crew is started again.
      if ((await memberOf(store.db, project, role))?.wantedAt === crewWantedAt) continue;
      if ((await holderOf(project, role)) === null) await fill(project, role, crewWantedAt, {});
    }
  }

  async function tryOne(project: Project): Promise<void> {
    try {
      await inLane(project, () => settle(project));
    } catch (error) {
      if (isPassing(error)) throw error;
      platform.log.warn(
        { project: project.name, error: messageOf(error) },
        'its crew is not complete; tried again later',
      );
    }
  }

  const inLane = <T>(project: Project, act: () => Promise<T>) => lanes.run(project.id, act);
  return {
    start: (project, given) => inLane(project, () => start(project, given)),
    stop: (project) => inLane(project, () => stop(project)),
    status,
    tendOne: (project) => inLane(project, () => settle(project)),
    tryOne,
    async tend() {
      for (const project of await listProjects(store.db)) await tryOne(project);
    },
  };
}
