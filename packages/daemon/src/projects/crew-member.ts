import { checkoutOf } from '@pawl/git/merge/advance';
import { branchTip, listBranches } from '@pawl/git/repository/repository';
import { crashPoint } from '@pawl/schema/crash-point';
import type { Agent, Project } from '@pawl/schema/record';
import { agentById, livingAliases, takenAliases } from '@pawl/store/agents/agents';
import { livingColleagues } from '@pawl/store/agents/colleagues';
import { projectSettings, updateProjectSettings } from '@pawl/store/projects/project-settings';
import { integer, text } from '@pawl/store/facts/fact-column';
import type { FactOf } from '@pawl/store/facts/fact-table';
import { factTable } from '@pawl/store/facts/fact-table';
import type { Database } from '@pawl/store/tables';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { Resting } from '../agents/add-child.ts';
import { forkAndExec } from '../agents/fork.ts';
import { repositoryOf } from '../platform/platform.ts';
import { rootAgent } from '../platform/root-agent.ts';
import { targetCommit } from '../project-config/base-commit.ts';

/** A role of a crew: the id of a definition. */
export type CrewRole = string;

/** A person's options for the agents of a crew. */
export type CrewGiven = {
  provider?: string | undefined;
  environment?: Record<string, string> | undefined;
  searchPath?: string | undefined;
};

/** The agent with a role, and the crew request that it was started for. */
const crewMembers = factTable('crew_members', ['projectId', 'role'], {
  projectId: text,
  role: text,
  wantedAt: integer,
  agentId: text,
});

/**
 * Forks the agent of one role. The request, the agent and its role are one transaction, so a refusal leaves nothing
 * behind.
 */
export async function fillRole(
  platform: SessionPlatform,
  project: Project,
  role: CrewRole,
  { wantedAt, given }: { wantedAt: number; given: CrewGiven },
): Promise<void> {
  const { branch, base } = await placeFor(platform, project, role);
  const body = {
    path: project.root,
    task: '',
    definition: role,
    alias: await aliasFor(platform, project, role),
    base,
    ...(given.provider === undefined ? {} : { provider: given.provider }),
    ...(given.environment === undefined ? {} : { environment: given.environment }),
    ...(given.searchPath === undefined ? {} : { searchPath: given.searchPath }),
  };
  const actor = { agent: await rootAgent(platform.store.db), isPerson: true };
  const resting: Resting = {
    branch,
    async record(tx, { id }) {
      await crewMembers.set(tx, { projectId: project.id, role, wantedAt, agentId: id });
      const { crewWantedAt } = await projectSettings(tx.db, project.id);
      if (crewWantedAt === wantedAt) return;
      await updateProjectSettings(tx, project.id, { crewWantedAt: wantedAt });
      if (crewWantedAt === null) tx.emit({ type: 'project.configured', projectId: project.id, data: { crew: true } });
    },
  };
  await forkAndExec(platform, actor, body, `crew:${project.id}:${role}:${wantedAt}`, { resting });
  crashPoint('crew.after_member');
}

/** The agent that was started for a role; it may have ended. */
export async function memberOf(
  db: Database,
  project: Project,
  role: CrewRole,
): Promise<FactOf<typeof crewMembers> | null> {
  return crewMembers.get(db, { projectId: project.id, role });
}

/** The holder of a role: the crew's member, or an agent that a person started for it. */
export async function holderOf(db: Database, project: Project, role: CrewRole): Promise<Agent | null> {
  const member = await memberOf(db, project, role);
  const agent = member === null ? null : await agentById(db, member.agentId);
  if (agent !== null && agent.endedAt === null) return agent;
  const others = await livingColleagues(db, project.id);
  const other = others.find(
    (each) => each.agent.definition === role && each.agent.class === 'persistent' && each.agent.adopted === null,
  );
  return other?.agent ?? null;
}

/** Supervisor and merge-queue read the target branch; a workspace keeps its branch, if it had one. */
async function placeFor(
  platform: SessionPlatform,
  project: Project,
  role: CrewRole,
): Promise<{ branch: string | null; base: string }> {
  const repository = await repositoryOf(platform, project);
  const base = await targetCommit(platform, project, repository);
  if (role !== 'workspace') return { branch: null, base };
  for (let number = 1; ; number++) {
    const branch = `workspace/${project.name}${number === 1 ? '' : `-${number}`}`;
    if ((await checkoutOf(repository, branch)) !== null) continue;
    return { branch, base: (await branchTip(repository, branch)) ?? base };
  }
}

/** The role's own name or, if taken, with the project's. */
async function aliasFor(platform: SessionPlatform, project: Project, role: CrewRole): Promise<string> {
  const branches = await listBranches(await repositoryOf(platform, project), 'work/');
  const taken = new Set([
    ...(await livingAliases(platform.store.db)),
    ...(await takenAliases(platform.store.db, project.id)),
    ...branches.map(({ name }) => name.slice('work/'.length)),
  ]);
  const withProject = `${role}-${project.name}`.slice(0, 56);
  for (let number = 0; ; number++) {
    const alias = number === 0 ? role : number === 1 ? withProject : `${withProject}-${number}`;
    if (!taken.has(alias)) return alias;
  }
}
