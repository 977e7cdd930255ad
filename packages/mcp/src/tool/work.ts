import { limits } from '@pawl/schema/limit';
import * as z from 'zod';
import { defineTool } from '../tool.ts';

const taskAdd = defineTool({
  name: 'task_add',
  door: 'addTask',
  title: 'Plan a task',
  description:
    'Adds a task to the plan of your project, in the same phase as your own. Use it for work that you have found and that is not part of ' +
    'your task. It starts no agent, and adds no second task with the same name. Do not use it for the steps of your own task.',
  input: z.strictObject({
    name: z.string().min(1).max(limits.taskNameCharacters).describe('a short, distinct name'),
    description: z
      .string()
      .max(limits.taskBytes)
      .optional()
      .describe('everything that the agent on this task has to know'),
    phase: z.string().max(limits.taskPhaseCharacters).optional().describe('a phase other than yours'),
    after: z
      .array(z.string().min(1).max(1_000))
      .max(limits.taskDependencies)
      .optional()
      .describe('ids or exact names of the tasks that must be completed first'),
  }),
  effect: 'adds',
  async call({ client }, { name, description, phase, after }) {
    const { agent } = await client.whoami();
    const { task, created } = await client.addTask({
      name,
      agent: agent.id,
      ...(description === undefined ? {} : { description }),
      ...(phase === undefined ? {} : { phase }),
      ...(after === undefined ? {} : { after }),
    });
    return { created, task: { id: task.id, name: task.name, state: task.state, detail: task.detail } };
  },
});

const complete = defineTool({
  name: 'complete',
  door: 'completeAgent',
  title: 'Report completion',
  description:
    'Reports that your whole task is done, or that it cannot be done. Pawl notifies those who wait for it by mail, and cleans up after you as soon as your turn ends. ' +
    'Commit everything first; call it last and once, then end your turn. Do not use it for a part of the task or to report progress: use send for ' +
    'that. A persistent agent never completes.',
  input: z.strictObject({
    summary: z.string().max(limits.taskSummaryCharacters).optional().describe('the result, for those who build on it'),
    failure: z
      .string()
      .min(1)
      .max(limits.taskSummaryCharacters)
      .optional()
      .describe('why the task could not be done; leave out if it is done'),
  }),
  effect: 'ends',
  async call({ client }, { summary, failure }) {
    const { notified, isNew } = await client.completeAgent('@current', {
      ...(summary === undefined ? {} : { summary }),
      ...(failure === undefined ? {} : { failure }),
    });
    return {
      completed: true,
      isNew,
      notified: notified.map(({ alias }) => alias),
      next: 'End your turn now. Anything you do after this is ignored.',
    };
  },
});

export const workTools = [taskAdd, complete];
