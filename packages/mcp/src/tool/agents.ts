import type { ForkBody } from '@pawl/protocol/agents/verb-view';
import type { AgentView } from '@pawl/protocol/agents/view';
import { limits } from '@pawl/schema/limit';
import * as z from 'zod';
import { mcpLimits } from '../mcp-limit.ts';
import type { ToolAnswer } from '../tool.ts';
import { defineTool } from '../tool.ts';

/** A short description of an agent. */
function brief(agent: AgentView): ToolAnswer {
  const { id, alias, definition, kind, status, activity, detail, branch, parentId, supervisorId } = agent;
  const task = agent.assignment?.slice(0, mcpLimits.taskCharacters) ?? null;
  const project = agent.project?.name ?? null;
  return { id, alias, definition, kind, status, activity, detail, project, task, branch, parentId, supervisorId };
}

const whoami = defineTool({
  name: 'whoami',
  door: 'whoami',
  title: 'Who am I',
  description:
    'Shows who you are in Pawl: your id, alias, kind (main or subagent), project, branch, worktree, task and supervisor. ' +
    'Use it before you fork, send mail or ask, if you are not sure of your own name or rights. It changes nothing.',
  input: z.strictObject({}),
  effect: 'reads',
  forPerson: true,
  async call({ client }) {
    const { caller, agent } = await client.whoami();
    return { caller, agent: { ...brief(agent), worktree: agent.worktree, access: agent.access, budget: agent.budget } };
  },
});

const agents = defineTool({
  name: 'agents',
  door: 'listAgents',
  title: 'List agents',
  description:
    'Lists the agents of this Pawl: alias, id, definition, status and task. Use it to find the agent to write to or to ask, and ' +
    'before you start work that another agent may already be doing. Do not poll it to wait for an agent: use listen, or continue your work.',
  input: z.strictObject({
    all: z.boolean().optional().describe('also list dead agents'),
    project: z.string().min(1).max(200).optional().describe('list only the agents of the project with this name'),
  }),
  effect: 'reads',
  forPerson: true,
  async call({ client }, { all, project }) {
    const query = {
      limit: mcpLimits.listedAgents,
      ...(all === undefined ? {} : { all }),
      ...(project === undefined ? {} : { project }),
    };
    const list = await client.listAgents(query);
    return { agents: list.agents.map(brief), more: list.more };
  },
});

const fork = defineTool({
  name: 'fork',
  door: 'fork',
  title: 'Fork yourself',
  description:
    'Starts a child that inherits your conversation, has its own worktree and branch, and begins with the prompt. Use it to do ' +
    'independent parts of your task in parallel. A fork costs as much as another agent, so do not fork for a few steps of work. ' +
    'A subagent may not fork. The child works on its own and reports to you by mail.',
  input: z.strictObject({
    prompt: z.string().min(1).max(limits.taskBytes).describe('the task of the child, complete in itself'),
    alias: z.string().min(1).max(64).optional().describe('a name for the child; default: a generated one'),
    model: z.string().min(1).max(200).optional().describe('a model other than yours'),
    with_files: z.boolean().optional().describe('copy your uncommitted files to the child'),
  }),
  effect: 'adds',
  async call({ client, key }, { prompt, alias, model, with_files: withFiles }) {
    const body: ForkBody = {
      prompt,
      ...(alias === undefined ? {} : { alias }),
      ...(model === undefined ? {} : { model }),
      ...(withFiles === undefined ? {} : { withFiles }),
    };
    const { agent } = await client.fork('@current', body, key);
    return { agent: brief(agent), next: `It is running. Write to it with send, to "${agent.alias}".` };
  },
});

export const agentTools = [whoami, agents, fork];
