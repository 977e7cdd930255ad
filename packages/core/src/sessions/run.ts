import type { Definition } from '@pawl/schema/definition';
import type { NewEvent } from '@pawl/schema/event';
import type { Agent, Message, Project, Run } from '@pawl/schema/record';
import { usualThread } from '@pawl/schema/record';
import { firstLine } from '../shorten.ts';

/** How much of a task its event carries. */
const summaryCharacters = 200;

export type BegunRun = {
  run: Run;
  message: Pick<Message, 'agentId' | 'runId' | 'kind' | 'content' | 'data'>;
  event: NewEvent;
};

/** Makes a new run: its row, the message that requests it, and its event. */
export function runOf(
  agent: Agent,
  begin: {
    id: string;
    project: Pick<Project, 'id' | 'root'> | null;
    task: string;
    definition: Definition;
    /** The chat thread; by default that of the agent's previous run. */
    sessionId?: string | undefined;
    now: number;
  },
  parentRunId: string | null = null,
): BegunRun {
  const run: Run = {
    id: begin.id,
    repoPath: begin.project?.root ?? null,
    sessionId: begin.sessionId ?? usualThread,
    projectId: begin.project?.id ?? null,
    agentId: agent.id,
    agentKind: agent.kind,
    parentRunId,
    task: begin.task,
    definition: begin.definition,
    startedAt: begin.now,
    endedAt: null,
    outcome: null,
    detail: null,
    questions: null,
    resultBefore: null,
    waitUntil: null,
    waitFor: null,
    cause: null,
  };
  return {
    run,
    message: { agentId: agent.id, runId: run.id, kind: 'user', content: run.task, data: null },
    event: {
      type: 'run.started',
      projectId: run.projectId,
      agentId: agent.id,
      data: { task: firstLine(run.task, summaryCharacters) },
    },
  };
}
