import { limits } from '@pawl/schema/limit';
import * as z from 'zod';
import { defineTool } from '../tool.ts';

const taskAdd = defineTool({
  name: 'task_add',
  door: 'addTask',
  title: 'Plan a task',
  description:
    'Writes a task into the plan of your project, in the same phase as your own. Use it for work that you have found and that is not part of ' +
    'your task. It does not start anybody; a task with a name that is in the plan already is not added twice. Do not use it for the steps of your own task.',
  input: z.strictObject({
    name: z.string().min(1).max(limits.taskNameCharacters).describe('a short name that tells it apart'),
    description: z.string().max(limits.taskBytes).optional().describe('all that somebody has to know who takes it up'),
    phase: z.string().max(limits.taskPhaseCharacters).optional().describe('another phase than yours'),
    after: z
      .array(z.string().min(1).max(1_000))
      .max(limits.taskDependencies)
      .optional()
      .describe('ids or exact names of tasks that have to be completed first'),
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
  title: 'Say that you are done',
  description:
    'Says that your whole task is done, or that it cannot be: those who wait for it are told by mail, and you are cleaned up as soon as your turn ends. ' +
    'Commit everything first; call it last and once, then end your turn. Do not use it for a part of the task or to report progress: that is what send is ' +
    'for. A persistent agent never completes.',
  input: z.strictObject({
    summary: z
      .string()
      .max(limits.taskSummaryCharacters)
      .optional()
      .describe('what came of it, for those who build on it'),
    failure: z
      .string()
      .min(1)
      .max(limits.taskSummaryCharacters)
      .optional()
      .describe('why it could not be done; absent when it was'),
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
      next: 'End your turn now. Nothing that you do after this is taken into account.',
    };
  },
});

export const workTools = [taskAdd, complete];
