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
    'Tells who you are in Pawl: your id, alias, kind (main or subagent), project, branch, worktree, task, and who supervises you. ' +
    'Use it before you fork, write mail or ask, when you are not sure of your own name or rights. It changes nothing.',
  input: z.strictObject({}),
  effect: 'reads',
  forPerson: true,
  async call({ client }) {
    const { caller, agent } = await client.whoami();
    return { caller, agent: { ...brief(agent), worktree: agent.worktree, budget: agent.budget } };
  },
});

const agents = defineTool({
  name: 'agents',
  door: 'listAgents',
  title: 'List agents',
  description:
    'Lists the agents of this Pawl: alias, id, what each is, its status and its task. Use it to find out whom to write to or to ask, and ' +
    'before you start work that somebody may be doing already. Do not call it again and again to wait for somebody: use listen, or go on working.',
  input: z.strictObject({
    all: z.boolean().optional().describe('with those that are dead'),
    project: z.string().min(1).max(200).optional().describe('of one project only, by its name'),
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
    'Makes a child of you: it goes on from your conversation, in a worktree and branch of its own, and begins with the prompt. Use it to do ' +
    'independent parts of your task at the same time. It costs what another agent costs, so do not fork for what you can do in a few steps. ' +
    'A subagent may not fork. The child works by itself; you hear of it by mail.',
  input: z.strictObject({
    prompt: z.string().min(1).max(limits.taskBytes).describe('what the child is to do, complete in itself'),
    alias: z.string().min(1).max(64).optional().describe('a name for the child; one is chosen when absent'),
    model: z.string().min(1).max(200).optional().describe('another model than yours'),
    with_files: z.boolean().optional().describe('take your uncommitted files along'),
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
    return { agent: brief(agent), next: `It is at work. Write to it with send, to "${agent.alias}".` };
  },
});

export const agentTools = [whoami, agents, fork];
