import { mayAct, mayUseTool } from '@pawl/core/definition/gate';
import type { DefinitionList, GateAnswer, TrustAnswer } from '@pawl/protocol/view';
import { openRepository } from '@pawl/git/repository';
import type { AgentAction, Definition } from '@pawl/schema/definition';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Project } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agent-views';
import { agentById } from '@pawl/store/agents';
import { projectByRoot } from '@pawl/store/projects';
import { getSetting, setSetting } from '@pawl/store/settings';
import type { Store } from '@pawl/store/store';
import { relative } from 'node:path';
import * as z from 'zod';
import type { Definitions } from '../definitions/definitions.ts';
import { createDefinitions } from '../definitions/definitions.ts';
import type { Workshop } from '../workshop.ts';
import { projectOf } from '../workshop.ts';

/** Per project, which files a person trusts, and with which text: a file that changes is trusted no more. */
const trustSchema = z.record(z.string(), z.string()).catch({});
const trustKey = (projectId: string) => `trust:${projectId}`;

/** The definitions of a home, with its person's word on which repositories may widen them. */
export function homeDefinitions(store: Store, directories: { builtIn: string; user: string }): Definitions {
  return createDefinitions({
    ...directories,
    isTrusted: async (projectId, path, sha256) =>
      trustSchema.parse(await getSetting(store.db, trustKey(projectId)))[path] === sha256,
  });
}

/** What agents there can be in a project, or, without one, everywhere. */
export async function listDefinitions(shop: Workshop, project: Project | null): Promise<DefinitionList> {
  const { definitions, problems, notices } = await shop.definitions.load(project);
  return {
    definitions: [...definitions.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    problems: problems.map(({ path: file, line, reason }) => ({ path: file, line, reason })),
    notices: notices.map(({ path: file, line, reason }) => ({ path: file, line, reason })),
  };
}

/** Trusts the definition files of a repository as they are now, or takes that back. */
export async function trustProject(shop: Workshop, path: string, revoke: boolean): Promise<TrustAnswer> {
  const project = await projectAround(shop, path);
  if (project === null)
    throw new PawlError('project_not_found', `${path} is not in a project.`, { hint: 'Run `pawl init` there first.' });
  const { files } = await shop.definitions.load(project);
  const own = revoke ? [] : files.filter(({ layer }) => layer === 'repository');
  const names = own.map((file) => relative(project.root, file.path));
  await shop.store.write(async (tx) => {
    await setSetting(tx, trustKey(project.id), Object.fromEntries(own.map((file) => [file.path, file.sha256])));
    tx.emit({ type: revoke ? 'project.distrusted' : 'project.trusted', projectId: project.id, data: { files: names } });
  });
  return { project: project.name, files: names };
}

/** Whether an agent may use a tool or take an action, by the definition that its run began with. */
export async function askGate(
  shop: Workshop,
  agent: Agent,
  question: { tool?: string | undefined; input?: string | undefined; action?: AgentAction | undefined },
): Promise<GateAnswer> {
  const { tool, input, action } = question;
  if ((tool === undefined) === (action === undefined)) {
    throw new PawlError('invalid_input', 'Ask about a tool or about an action.');
  }
  const definition = await definitionInForce(shop, agent);
  const allowed = tool !== undefined ? mayUseTool(definition, tool, input) : mayAct(definition, action ?? 'Patch');
  const what = tool ?? action ?? '';
  return { allowed, reason: `the definition ${definition.id} ${allowed ? 'allows' : 'does not allow'} ${what}` };
}

/** The definition that binds an agent: the one its run began with, or, between runs, the one it would begin with. */
export async function definitionInForce(shop: Workshop, agent: Agent): Promise<Definition> {
  const run = (await agentView(shop.store.db, agent.id))?.run ?? null;
  if (run !== null && run.outcome === null && run.definition !== null) return run.definition;
  return shop.definitions.find(agent.projectId === null ? null : await projectOf(shop.store, agent), agent.definition);
}

/** The project that an agent belongs to. */
export async function projectOfAgent(shop: Workshop, agentId: string): Promise<Project | null> {
  const agent = await agentById(shop.store.db, agentId);
  return agent === null || agent.projectId === null ? null : projectOf(shop.store, agent);
}

/** The project whose repository a path lies in; null when there is none. */
export async function projectAround(shop: Workshop, path: string | undefined): Promise<Project | null> {
  if (path === undefined) return null;
  try {
    const { root } = await openRepository(path);
    return await projectByRoot(shop.store.db, root);
  } catch (error) {
    if (error instanceof PawlError && (error.code === 'not_a_repository' || error.code === 'not_found')) return null;
    throw error;
  }
}
