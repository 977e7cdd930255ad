import { newId } from '@pawl/schema/id';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { noBudget, noUsage } from '@pawl/schema/record';

/** An agent's row, but for what is given. */
export function agentRecord(fields: Partial<Agent>): Agent {
  const id = newId();
  return {
    id,
    alias: `agent-${id.toLowerCase().replaceAll('_', 'x')}`.replace(/-$/, 'x'),
    projectId: null,
    parentId: null,
    supervisorId: null,
    forkMessageId: 0,
    forkedConversation: null,
    snapshot: null,
    freshAfter: 0,
    definition: 'any',
    kind: 'main',
    class: 'ephemeral',
    provider: 'scripted',
    model: null,
    options: {},
    mode: 'execute',
    accountId: null,
    environment: {},
    budget: noBudget,
    taskId: null,
    branch: null,
    baseCommit: null,
    worktree: null,
    worktreeReadyAt: null,
    worktreeEnd: null,
    createdAt: 0,
    stopRequestedAt: null,
    completion: null,
    adopted: null,
    stuckAt: null,
    stuckReason: null,
    endedAt: null,
    endReason: null,
    reapedAt: null,
    ...fields,
  };
}

/** A session's row, but for what is given. */
export function sessionRecord(run: Run, fields: Partial<Session>): Session {
  return {
    id: newId(),
    agentId: run.agentId,
    runId: run.id,
    no: 1,
    purpose: 'work',
    conversation: 'new',
    providerSessionId: null,
    accountId: null,
    plannedAt: 0,
    startedAt: null,
    pid: null,
    processStart: null,
    pausedAt: null,
    interruptedAt: null,
    endedAt: null,
    exitCode: null,
    endReason: null,
    usage: noUsage,
    reported: null,
    result: null,
    limitUntil: null,
    ...fields,
  };
}
