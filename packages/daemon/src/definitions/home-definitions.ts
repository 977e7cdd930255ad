import type { AgentCaller } from '@pawl/core/definitions/gate';
import { mayAct, mayUseTool } from '@pawl/core/definitions/gate';
import { canonicalTool, nameCovers, toolEntry } from '@pawl/core/definitions/tool-name';
import type { DefinitionList, GateAnswer } from '@pawl/protocol/definitions/view';
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
import { refuseWrite } from './path-locks.ts';
import { providersOf, untrustedSettings } from './trust/known-settings.ts';
import { trustedDefinitions } from './trust/trusted-files.ts';
import type { DefinitionPlatform } from './definition-platform.ts';
import { projectOf } from '../platform/platform.ts';

/** The definitions of a home, and which repositories the person trusts to widen them. */
export function homeDefinitions(store: Store, directories: { builtIn: string; user: string }): Definitions {
  return createDefinitions({
    ...directories,
    isTrusted: async (projectId, path, sha256) => (await trustedDefinitions(store.db, projectId))[path] === sha256,
  });
}

/** The definitions available in a project, or everywhere without one. */
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

/** Tools that write to the file that they name. */
const writingTools = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit'];

/** Decides if an agent may use a tool or take an action, by the definition that its run started with. */
export async function askGate(
  platform: DefinitionPlatform,
  agent: Agent,
  question: { tool?: string | undefined; input?: string | undefined; action?: AgentAction | undefined },
): Promise<GateAnswer> {
  const { tool, input, action } = question;
  if ((tool === undefined) === (action === undefined)) {
    throw new PawlError('invalid_input', 'Give a tool or an action.');
  }
  const definition = await definitionInForce(platform, agent);
  const allowed =
    tool !== undefined
      ? mayUseTool(definition, tool, gateArgument(directoryOf(agent), tool, input))
      : mayAct(definition, action ?? 'Patch');
  if (allowed && tool !== undefined && input !== undefined && writingTools.includes(canonicalTool(tool))) {
    const place = gateArgument(directoryOf(agent), tool, input) ?? input;
    const refused = await refuseWrite(platform, { agent, definition }, place);
    if (refused !== null) return { allowed: false, reason: refused };
  }
  const what = tool ?? action ?? '';
  const limits = tool === undefined || allowed ? [] : limitsOf(definition, tool);
  const only = limits.length === 0 ? '' : `, only ${limits.join(', ')}`;
  return { allowed, reason: `the definition ${definition.id} ${allowed ? 'allows' : 'does not allow'} ${what}${only}` };
}

/** The entries that allow part of a tool, to show to an agent that was refused. */
function limitsOf({ tools }: Definition, tool: string): string[] {
  const name = canonicalTool(tool);
  return tools.filter((entry) => toolEntry(entry).limit !== null && nameCovers(toolEntry(entry).name, name));
}

/**
 * The definition that applies to an agent: the one its latest run started with, even if the file was edited since;
 * before its first run, the one on disk.
 */
export async function definitionInForce(platform: DefinitionPlatform, agent: Agent): Promise<Definition> {
  const run = (await agentView(platform.store.db, agent.id))?.run ?? null;
  if (run !== null && run.definition !== null) return run.definition;
  return platform.definitions.find(
    agent.projectId === null ? null : await projectOf(platform.store, agent),
    agent.definition,
  );
}

/** The rights of an agent. Without a definition and without a run, it may take no action. */
export async function rightsOf(platform: DefinitionPlatform, agent: Agent): Promise<AgentCaller> {
  try {
    return { kind: agent.kind, definition: await definitionInForce(platform, agent) };
  } catch (error) {
    if (!(error instanceof PawlError) || error.code !== 'not_found') throw error;
    const policy = { allow: [], delegateTargets: [] };
    return { kind: agent.kind, definition: { id: agent.definition, policy, hears: [] } };
  }
}

export async function projectOfAgent(platform: DefinitionPlatform, agentId: string): Promise<Project | null> {
  const agent = await agentById(platform.store.db, agentId);
  return agent === null || agent.projectId === null ? null : projectOf(platform.store, agent);
}

/** The project whose repository contains a path, or null. */
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
