import { newChange } from '@pawl/core/changes/change-life';
import type { Change } from '@pawl/schema/change';
import { newId } from '@pawl/schema/id';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { noBudget, noUsage } from '@pawl/schema/record';

/** An agent's row with these fields. */
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
    access: 'full',
    accessNeeds: null,
    keyProxy: null,
    taskId: null,
    assignment: null,
    branch: null,
    baseCommit: null,
    worktree: null,
    workdir: null,
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

/** A run's row with these fields: it is open. */
export function runRecord(fields: Partial<Run>): Run {
  return {
    id: newId(),
    projectId: '',
    agentId: '',
    agentKind: 'main',
    parentRunId: null,
    task: 'a task',
    definition: null,
    startedAt: 0,
    endedAt: null,
    outcome: null,
    detail: null,
    questions: null,
    resultBefore: null,
    waitUntil: null,
    waitFor: null,
    repoPath: null,
    sessionId: 'default',
    cause: null,
    ...fields,
  };
}

/** A session's row with these fields. */
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
    sandbox: null,
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

/** A change's row with these fields: open, and not queued. */
export function changeRecord(fields: Partial<Change>): Change {
  return newChange({
    id: newId(),
    projectId: '',
    agentId: null,
    taskId: null,
    branch: '',
    head: '',
    base: '',
    title: '',
    summary: '',
    openedAt: 1,
    queuedAt: null,
    ...fields,
  });
}
