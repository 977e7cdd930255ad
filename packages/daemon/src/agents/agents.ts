import { resolveAgent } from '@pawl/core/agents/resolve';
import { totalUsage } from '@pawl/core/accounts/usage';
import type { AgentList, AgentView, Inspection } from '@pawl/protocol/agents/view';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Project, Session } from '@pawl/schema/record';
import { noUsage } from '@pawl/schema/record';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { accountNames } from '@pawl/store/projects/accounts';
import { agentView, listAgents } from '@pawl/store/agents/agent-views';
import { findAgents } from '@pawl/store/agents/agents';
import { listProjects, projectById, projectByName, projectByRoot } from '@pawl/store/projects/projects';
import { placesOfAgents } from '@pawl/store/agents/places';
import { waitingApprovals } from '@pawl/store/sessions/approvals';
import { runsOf } from '@pawl/store/sessions/runs';
import { sessionsOf, usagesOf } from '@pawl/store/sessions/sessions';
import { placesOf } from '../platform/places.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import { keyPlace } from './key-place.ts';
import { unproposedOf } from '../project-config/withheld.ts';
import type { Reconciler } from '../sessions/reconcile/reconciler.ts';
import type { Platform } from '../platform/platform.ts';
import { sessionDirectory } from '../platform/platform.ts';
import { readSessionRecord } from '../platform/session-record.ts';
import { describePlaces, describeWorktree } from './worktrees/worktree-health.ts';
import { viewAgent } from './views.ts';

const defaultPage = 200;

/** Reads the latest change of each agent, for a listing. */
export type ChangesOf = (
  platform: Platform,
  agentIds: readonly string[],
  projects: ReadonlyMap<string, Project>,
) => Promise<Map<string, NonNullable<AgentView['change']>>>;

export type Agents = ReturnType<typeof createAgents>;

type AgentsContext = { platform: SessionPlatform; reconciler: Reconciler; changesOf: ChangesOf };

type AgentQuery = {
  project?: string | undefined;
  limit?: number | undefined;
  before?: string | undefined;
  all: boolean;
  reaped: boolean;
};

/** Queries about agents. */
export function createAgents(platform: SessionPlatform, reconciler: Reconciler, changesOf: ChangesOf) {
  const context: AgentsContext = { platform, reconciler, changesOf };
  const { db } = platform.store;
  return {
    /** Resolves a reference; for commands that act, an id prefix matches living agents only. */
    async find(reference: string, prefixOf: 'living' | 'all' = 'all'): Promise<Agent> {
      return resolveAgent(reference, await findAgents(db, reference, { prefixOf }));
    },

    view: (agentId: string) => viewOne(context, agentId),
    views: (rows: AgentFacts[]) => viewRows(context, rows),

    /** Newest first. Agent 0 is included only with `all`. */
    list: (query: AgentQuery) => listPage(context, query),

    /** All details of an agent; the worktree, which costs a few git commands, only on request. */
    inspect: (agentId: string, wanted: { worktree: boolean }) => inspect(context, agentId, wanted),

    /** Stores an agent's output so far, for readers of its history. */
    catchUp: (agentId: string) => reconciler.ingest.catchUp(agentId),

    /** True while an agent may still produce output. */
    async isWorking(agentId: string): Promise<boolean> {
      const row = await agentView(db, agentId);
      return row !== null && (row.run?.outcome === null || (row.session !== null && row.session.endedAt === null));
    },
  };
}

async function viewRows({ platform, reconciler, changesOf }: AgentsContext, rows: AgentFacts[]): Promise<AgentView[]> {
  const { db } = platform.store;
  const projects = new Map((await listProjects(db)).map((project) => [project.id, project]));
  const ids = rows.map(({ agent }) => agent.id);
  const usages = await usagesOf(db, ids);
  const changes = await changesOf(platform, ids, projects);
  const accounts = await accountNames(db);
  const withPlaces = rows.filter(({ agent }) => agent.workdir !== null).map(({ agent }) => agent.id);
  const places = await placesOfAgents(db, withPlaces);
  const approvals = await waitingApprovals(db);
  return rows.map((row) =>
    viewAgent(row, {
      project: projects.get(row.agent.projectId ?? '') ?? null,
      places: (places.get(row.agent.id) ?? []).flatMap((place) => {
        const project = projects.get(place.projectId);
        return project === undefined ? [] : [{ project, place }];
      }),
      account: accounts.get(row.agent.accountId ?? '') ?? null,
      change: changes.get(row.agent.id) ?? null,
      usage: totalUsage(usages.get(row.agent.id) ?? [noUsage]),
      live: reconciler.ingest.live(row.agent.id),
      queued: reconciler.isQueued(row.agent.id),
      silentMs: silence(platform, reconciler, row.agent),
      approval: approvals.get(row.agent.id) ?? null,
    }),
  );
}

async function viewOne(context: AgentsContext, agentId: string): Promise<AgentView> {
  const row = await agentView(context.platform.store.db, agentId);
  const [view] = row === null ? [] : await viewRows(context, [row]);
  if (view === undefined) throw new PawlError('agent_not_found', `There is no agent ${agentId}.`);
  return view;
}

async function listPage(context: AgentsContext, query: AgentQuery): Promise<Omit<AgentList, 'current'>> {
  const { platform } = context;
  const limit = query.limit ?? defaultPage;
  const project = query.project === undefined ? undefined : await findProject(platform, query.project);
  const rows = await listAgents(platform.store.db, {
    limit: limit + 1,
    includeEnded: query.all || query.reaped,
    includeReaped: query.reaped,
    ...(project === undefined ? {} : { projectId: project.id }),
    ...(query.before === undefined ? {} : { before: query.before }),
  });
  const page = rows.slice(0, limit).filter(({ agent }) => query.all || query.reaped || agent.parentId !== null);
  return { agents: await viewRows(context, page), more: rows.length > limit };
}

async function inspect(context: AgentsContext, agentId: string, wanted: { worktree: boolean }): Promise<Inspection> {
  const { platform } = context;
  const { db } = platform.store;
  const agent = await viewOne(context, agentId);
  const sessions = await sessionsOf(db, agentId);
  const row = await agentView(db, agentId);
  return {
    agent,
    runs: await runsOf(db, agentId),
    sessions: sessions.map((session) => describeSession(platform, session)),
    worktree: row === null || !wanted.worktree ? null : await describeWorktree(platform, row.agent),
    places: row === null || !wanted.worktree ? [] : await describePlaces(platform, row.agent),
    key: row === null ? null : await keyPlace(platform, row.agent),
    withheld: row === null || !wanted.worktree ? [] : await withheldFrom(platform, row.agent),
  };
}

/** The commits of an agent that were not proposed, in each of its projects. */
async function withheldFrom(platform: Platform, agent: Agent): Promise<Inspection['withheld']> {
  const found: Inspection['withheld'] = [];
  for (const { agent: there } of await placesOf(platform.store.db, agent)) {
    const project = there.projectId === null ? null : await projectById(platform.store.db, there.projectId);
    if (project === null) continue;
    for (const { branch, head, definition, at } of await unproposedOf(platform, project, agent.id))
      found.push({ project: project.name, branch, head, definition, at });
  }
  return found;
}

/** Resolves a project by name or path. */
async function findProject(platform: Platform, reference: string): Promise<Project> {
  const { db } = platform.store;
  const project = (await projectByName(db, reference)) ?? (await projectByRoot(db, reference));
  if (project !== null) return project;
  throw new PawlError('project_not_found', `There is no project ${JSON.stringify(reference.slice(0, 80))}.`, {
    hint: 'Make a repository a project with `pawl init`.',
  });
}

function describeSession(platform: Platform, session: Session): Inspection['sessions'][number] {
  const directory = sessionDirectory(platform.home, session.id);
  const { argv, environment } = readSessionRecord(directory) ?? { argv: [], environment: [] };
  return { ...session, directory, argv, environment };
}

/** How long an agent has been silent, if longer than usual for its provider. */
function silence(platform: Platform, { ingest }: Pick<Reconciler, 'ingest'>, agent: Agent): number | null {
  const notice = platform.providers.find(agent.provider)?.silence.noticeMs ?? Infinity;
  const { silentMs } = ingest.pace(agent.id);
  return silentMs >= notice ? silentMs : null;
}
