import type { AgentView, ForkBody } from '@pawl/protocol/view';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import * as z from 'zod';
import { mcpLimits } from '../mcp-limit.ts';
import type { Call, ToolAnswer } from '../tool.ts';
import { defineTool } from '../tool.ts';

/** An agent in as few words as another one needs to know it by. */
function brief(agent: AgentView): ToolAnswer {
  const { id, alias, definition, kind, status, activity, detail, branch, parentId, supervisorId } = agent;
  const task = agent.run?.task.slice(0, mcpLimits.taskCharacters) ?? null;
  const project = agent.project?.name ?? null;
  return { id, alias, definition, kind, status, activity, detail, project, task, branch, parentId, supervisorId };
}

/** Who the caller is. */
const whoami = defineTool({
  name: 'whoami',
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

/** The other agents. */
const agents = defineTool({
  name: 'agents',
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

/** A child of the caller. */
const fork = defineTool({
  name: 'fork',
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

/** Who else is at work in the project, whether Pawl started it or not. */
const roster = defineTool({
  name: 'roster',
  title: 'Who else works here',
  description:
    'Looks at the machine itself for coding agents that work in your project’s main checkout, whoever started them; you and your own processes ' +
    'are left out, and so are agents with worktrees of their own. Use it before you change files outside of your own worktree. That you are ' +
    'alone is only said when it is certain: null means that nobody can tell.',
  input: z.strictObject({
    project: z.string().min(1).max(200).optional().describe('another project than yours, by its name'),
  }),
  effect: 'reads',
  forPerson: true,
  async call(call, { project }) {
    const root = await rootOf(call, project);
    const { others, doubts } = await call.scan(root);
    const found = others.map(({ pid, cwd, provider, agentId }) => ({ pid, cwd, provider, agentId }));
    // Null is no answer: that nobody was seen does not mean that nobody is there.
    const alone = found.length > 0 ? false : doubts.length > 0 ? null : true;
    return { root, alone, others: found, doubts };
  },
});

/** The checkout that a question is about: the named project's, else the caller's own. */
async function rootOf({ client, caller, here }: Call, named: string | undefined): Promise<string> {
  if (named === undefined && caller === 'person' && here !== null) return here;
  const name = named ?? (await client.whoami()).agent.project?.name;
  const { projects } = await client.listProjects();
  const found = projects.find((each) => each.name === name);
  if (found !== undefined) return found.root;
  throw new PawlError(
    'project_not_found',
    name === undefined ? 'You belong to no project.' : `There is no project ${name}.`,
    {
      hint: `There are: ${projects.map((each) => each.name).join(', ')}.`,
    },
  );
}

export const agentTools = [whoami, agents, fork, roster];
