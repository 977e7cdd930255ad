import { PawlError } from '@pawl/schema/error';
import type { AccessLevel } from '@pawl/schema/access-level';
import type { Definition } from '@pawl/schema/definition';
import type { NewEvent } from '@pawl/schema/event';
import type { Agent, AgentPlace, Budget, Message, Project, Run, WorkMode } from '@pawl/schema/record';
import { refuseAdopted } from './adopted.ts';
import { checkMayFork } from '../definitions/gate.ts';
import type { ProviderPreset } from '../port/provider.ts';
import { runOf } from '../sessions/run.ts';

/** The fields that a child inherits from its parent. */
export type Inheritance = {
  /** The last complete message of the parent that the child sees; 0 inherits nothing. */
  messageId: number;
  /** The provider's id of the parent's conversation, for providers that can fork it. */
  conversation: string | null;
};

/** For an agent made for a task of its own. */
export const nothingInherited: Inheritance = { messageId: 0, conversation: null };

export type ForkRequest = {
  parent: Agent;
  inherits: Inheritance;
  definition: Definition;
  /** Null for an agent without a project. */
  project: Project | null;
  preset: ProviderPreset;
  model: string | null;
  options: Record<string, string>;
  mode: WorkMode;
  accountId: string | null;
  environment: Record<string, string>;
  budget: Budget;
  access: AccessLevel;
  accessNeeds: Agent['accessNeeds'];
  /** Default: the proxy keeps its key where it can. */
  keyProxy?: Agent['keyProxy'];
  /** The planned task that the child works on. */
  taskId: string | null;
  /** The child's assignment, as shown to people. */
  assignment: string | null;
  alias: string;
  baseCommit: string | null;
  /** Null for an adopted agent, which works where its process runs. */
  worktree: string | null;
  /** Null for a worktree without a branch. Default: a branch named after the agent. */
  branch?: string | null;
  /** The parent directory of its worktrees, for an agent with several projects. */
  workdir?: string | null;
  /** Its worktrees in further projects, in order. */
  places?: Pick<AgentPlace, 'projectId' | 'path' | 'baseCommit' | 'snapshot'>[];
  adopted?: Agent['adopted'];
  snapshot: string | null;
  /** The child's first message; without one it waits for input. */
  task: string | null;
  /** The run that this one is part of, for a subagent. */
  parentRunId: string | null;
  /** The chat thread of the child's run. Default: the agent's own. */
  sessionId?: string | undefined;
  ids: { agent: string; run: string };
  now: number;
};

export type ForkPlan = {
  agent: Agent;
  places: AgentPlace[];
  run: Run | null;
  /**
   * In the order they are written: a note in the parent's history, one in the child's, and the child's first message.
   */
  messages: Pick<Message, 'agentId' | 'runId' | 'kind' | 'content' | 'data'>[];
  events: NewEvent[];
};

/**
 * Plans a fork: the child's row, a note in both histories, the planned worktree, and the first run if there is a task.
 * Write all of it in one transaction with the events; the reconciler then makes it real. The cost does not depend on
 * how much is inherited.
 */
export function planFork(request: ForkRequest): ForkPlan {
  const { parent, inherits, definition, project, alias, ids, now } = request;
  refuseParent(parent);
  const agent = childOf(request);
  const begun =
    request.task === null
      ? null
      : runOf(
          agent,
          { id: ids.run, project, task: request.task, definition, sessionId: request.sessionId, now },
          request.parentRunId,
        );
  const note = (self: Agent, role: 'parent' | 'child') => ({
    agentId: self.id,
    runId: null,
    kind: 'fork' as const,
    content: role === 'parent' ? `forked ${alias}` : `forked off ${parent.alias}`,
    data: {
      ...(role === 'parent' ? { childId: agent.id } : { parentId: parent.id }),
      forkMessageId: inherits.messageId,
      role,
    },
  });
  return {
    agent,
    places: (request.places ?? []).map((place, index) => ({
      ...place,
      agentId: agent.id,
      no: index + 1,
      branch: ownBranch(alias),
      readyAt: null,
      end: null,
    })),
    run: begun?.run ?? null,
    messages: [note(parent, 'parent'), note(agent, 'child'), ...(begun === null ? [] : [begun.message])],
    events: [
      {
        type: 'agent.forked',
        projectId: agent.projectId,
        agentId: agent.id,
        data: {
          alias,
          parentId: parent.id,
          definition: agent.definition,
          provider: agent.provider,
          branch: agent.branch,
          forkMessageId: inherits.messageId,
        },
      },
      ...(begun === null ? [] : [begun.event]),
    ],
  };
}

/** The row of the child. */
function childOf(request: ForkRequest): Agent {
  const { parent, inherits, definition, project, alias, ids, now } = request;
  return {
    id: ids.agent,
    alias,
    projectId: project?.id ?? null,
    parentId: parent.id,
    supervisorId: parent.id,
    forkMessageId: inherits.messageId,
    forkedConversation: inherits.conversation,
    snapshot: request.snapshot,
    freshAfter: 0,
    definition: definition.id,
    kind: definition.kind,
    class: definition.class,
    provider: request.preset.name,
    model: request.model,
    options: request.options,
    mode: request.mode,
    accountId: request.accountId,
    environment: request.environment,
    budget: request.budget,
    access: request.access,
    accessNeeds: request.accessNeeds,
    keyProxy: request.keyProxy ?? null,
    taskId: request.taskId,
    assignment: request.assignment,
    branch: branchOf(request),
    baseCommit: request.baseCommit,
    worktree: request.worktree,
    workdir: request.workdir ?? null,
    worktreeReadyAt: null,
    worktreeEnd: null,
    createdAt: now,
    stopRequestedAt: null,
    completion: null,
    adopted: request.adopted ?? null,
    stuckAt: null,
    stuckReason: null,
    endedAt: null,
    endReason: null,
    reapedAt: null,
  };
}

function branchOf({ worktree, project, branch, alias }: ForkRequest): string | null {
  if (worktree === null || project === null) return null;
  return branch === undefined ? ownBranch(alias) : branch;
}

function ownBranch(alias: string): string {
  return `work/${alias}`;
}

/** Refuses a parent that cannot have children: a subagent, or a dead agent. */
export function refuseParent(parent: Agent): void {
  checkMayFork(parent.kind);
  refuseAdopted(parent);
  if (parent.endedAt !== null) {
    throw new PawlError('conflict', `The agent ${parent.alias} is dead.`, {
      hint: 'Fork a living one: see `pawl tree`.',
    });
  }
}
