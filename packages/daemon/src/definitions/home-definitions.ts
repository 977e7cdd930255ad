import type { AgentCaller } from '@pawl/core/definitions/gate';
import { mayAct, mayUseTool } from '@pawl/core/definitions/gate';
import { canonicalTool, nameCovers, toolEntry } from '@pawl/core/definitions/tool-name';
import type { DefinitionList, GateAnswer } from '@pawl/protocol/view';
import { openRepository } from '@pawl/git/repository/repository';
import type { AgentAction, Definition } from '@pawl/schema/definition';
import { PawlError } from '@pawl/schema/error';
import { directoryOf } from '@pawl/schema/place';
import type { Agent, Project } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById } from '@pawl/store/agents/agents';
import { projectByRoot } from '@pawl/store/projects/projects';
import type { Store } from '@pawl/store/store';
import { join } from 'node:path';
import type { Definitions } from './definitions.ts';
import { createDefinitions } from './definitions.ts';
import { gateArgument } from './gate-argument.ts';
import { providersOf, untrustedSettings } from './trust/known-settings.ts';
import { trustedDefinitions } from './trust/trusted-files.ts';
import type { DefinitionPlatform } from './definition-platform.ts';
import { projectOf } from '../platform/platform.ts';

/** The definitions of a home, with its person's word on which repositories may widen them. */
export function homeDefinitions(store: Store, directories: { builtIn: string; user: string }): Definitions {
  return createDefinitions({
    ...directories,
    isTrusted: async (projectId, path, sha256) => (await trustedDefinitions(store.db, projectId))[path] === sha256,
  });
}

/** What agents there can be in a project, or, without one, everywhere. */
export async function listDefinitions(platform: DefinitionPlatform, project: Project | null): Promise<DefinitionList> {
  const { definitions, problems, notices } = await platform.definitions.load(project);
  const settings = project === null ? [] : await untrustedSettings(platform, project);
  return {
    definitions: [...definitions.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    problems: problems.map(({ path: file, line, reason }) => ({ path: file, line, reason })),
    notices: [
      ...notices.map(({ path: file, line, reason }) => ({ path: file, line, reason })),
      ...settings.map((file) => ({
        path: join(project?.root ?? '', file.path),
        line: 1,
        reason: `the settings for ${providersOf(platform, file.path).join(', ')} are not trusted${file.reason === null ? '' : `: the file ${file.reason}`}`,
      })),
    ],
  };
}

/** Whether an agent may use a tool or take an action, by the definition that its run began with. */
export async function askGate(
  platform: DefinitionPlatform,
  agent: Agent,
  question: { tool?: string | undefined; input?: string | undefined; action?: AgentAction | undefined },
): Promise<GateAnswer> {
  const { tool, input, action } = question;
  if ((tool === undefined) === (action === undefined)) {
    throw new PawlError('invalid_input', 'Ask about a tool or about an action.');
  }
  const definition = await definitionInForce(platform, agent);
  const allowed =
    tool !== undefined
      ? mayUseTool(definition, tool, gateArgument(directoryOf(agent), tool, input))
      : mayAct(definition, action ?? 'Patch');
  const what = tool ?? action ?? '';
  const limits = tool === undefined || allowed ? [] : limitsOf(definition, tool);
  const only = limits.length === 0 ? '' : `; of it there is only ${limits.join(', ')}`;
  return { allowed, reason: `the definition ${definition.id} ${allowed ? 'allows' : 'does not allow'} ${what}${only}` };
}

/** The entries that allow a part of what a tool can do, for an agent that was refused the rest. */
function limitsOf({ tools }: Definition, tool: string): string[] {
  const name = canonicalTool(tool);
  return tools.filter((entry) => toolEntry(entry).limit !== null && nameCovers(toolEntry(entry).name, name));
}

/**
 * The definition that binds an agent: the one that its latest run began with, though its file may have been edited since;
 * before its first run, the one that its files say.
 */
export async function definitionInForce(platform: DefinitionPlatform, agent: Agent): Promise<Definition> {
  const run = (await agentView(platform.store.db, agent.id))?.run ?? null;
  if (run !== null && run.definition !== null) return run.definition;
  return platform.definitions.find(
    agent.projectId === null ? null : await projectOf(platform.store, agent),
    agent.definition,
  );
}

/** The rights of an agent. One whose definition is gone, and that never ran, may do nothing that needs an action. */
export async function rightsOf(platform: DefinitionPlatform, agent: Agent): Promise<AgentCaller> {
  try {
    return { kind: agent.kind, definition: await definitionInForce(platform, agent) };
  } catch (error) {
    if (!(error instanceof PawlError) || error.code !== 'not_found') throw error;
    const policy = { allow: [], delegateTargets: [] };
    return { kind: agent.kind, definition: { id: agent.definition, policy, hears: [] } };
  }
}

/** The project that an agent belongs to. */
export async function projectOfAgent(platform: DefinitionPlatform, agentId: string): Promise<Project | null> {
  const agent = await agentById(platform.store.db, agentId);
  return agent === null || agent.projectId === null ? null : projectOf(platform.store, agent);
}

/** The project whose repository a path lies in; null when there is none. */
export async function projectAround(platform: DefinitionPlatform, path: string | undefined): Promise<Project | null> {
  if (path === undefined) return null;
  try {
    const { root } = await openRepository(path);
    return await projectByRoot(platform.store.db, root);
  } catch (error) {
    if (error instanceof PawlError && (error.code === 'not_a_repository' || error.code === 'not_found')) return null;
    throw error;
  }
}
