import type { NewEvent } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Message, Project, Run } from '@pawl/schema/record';
import { firstLine } from './shorten.ts';
import type { ProviderPreset } from './port/provider.ts';

/** How much of a task its event carries. */
const summaryCharacters = 200;

/** What a person asks for with `pawl work`. */
export type WorkRequest = {
  task: string;
  model: string | null;
  options: Record<string, string>;
};

export type WorkPlan = {
  agent: Agent;
  run: Run;
  message: Omit<Message, 'id'>;
  events: NewEvent[];
};

/** Refuses a task that is empty, too large, or not plain text. */
export function checkTask(task: string): void {
  if (task.trim() === '') {
    throw new PawlError('invalid_input', 'The task is empty.', {
      hint: 'Say what to do: pawl work "fix the login test"',
    });
  }
  const bytes = new TextEncoder().encode(task).length;
  if (bytes > limits.taskBytes) {
    throw new PawlError('too_large', `The task has ${bytes} bytes; the limit is ${limits.taskBytes}.`, {
      hint: 'Put the material into a file of the repository and name that file in the task.',
    });
  }
  if (task.includes('\0')) throw new PawlError('invalid_input', 'The task contains a NUL character.');
}

/** Refuses options that the provider does not have. */
export function checkOptions(preset: ProviderPreset, request: WorkRequest): void {
  for (const name of Object.keys(request.options)) {
    if (Object.hasOwn(preset.options, name)) continue;
    const known = Object.keys(preset.options).join(', ') || 'none';
    throw new PawlError('invalid_input', `The provider ${preset.name} has no option ${JSON.stringify(name)}.`, {
      hint: `Its options: ${known}.`,
    });
  }
  if (request.model !== null && preset.model === null) {
    throw new PawlError('invalid_input', `The provider ${preset.name} does not let you choose a model.`);
  }
}

/**
 * Fork + exec of a worker: the agent's row, its worktree intent, its first run and its first message, to be written in
 * one transaction together with the events. Nothing has happened in the world yet; the reconciler makes it so.
 */
export function planWork(given: {
  request: WorkRequest;
  project: Project;
  parent: Agent;
  preset: ProviderPreset;
  alias: string;
  baseCommit: string;
  worktree: string;
  ids: { agent: string; run: string };
  now: number;
}): WorkPlan {
  const { request, project, parent, alias, ids, now } = given;
  const agent: Agent = {
    id: ids.agent,
    alias,
    projectId: project.id,
    parentId: parent.id,
    forkMessageId: 0,
    definition: 'worker',
    kind: 'main',
    class: 'ephemeral',
    provider: given.preset.name,
    model: request.model,
    options: request.options,
    branch: `work/${alias}`,
    baseCommit: given.baseCommit,
    worktree: given.worktree,
    worktreeReadyAt: null,
    createdAt: now,
    stopRequestedAt: null,
    endedAt: null,
    endReason: null,
  };
  const run: Run = {
    id: ids.run,
    projectId: project.id,
    agentId: agent.id,
    agentKind: agent.kind,
    parentRunId: null,
    task: request.task,
    startedAt: now,
    endedAt: null,
    outcome: null,
    detail: null,
    questions: null,
  };
  const about = { projectId: project.id, agentId: agent.id };
  return {
    agent,
    run,
    message: { agentId: agent.id, kind: 'user', content: request.task, createdAt: now },
    events: [
      {
        type: 'agent.forked',
        ...about,
        data: {
          alias,
          parentId: parent.id,
          definition: agent.definition,
          provider: agent.provider,
          branch: agent.branch,
        },
      },
      { type: 'run.started', ...about, data: { task: firstLine(request.task, summaryCharacters) } },
    ],
  };
}
