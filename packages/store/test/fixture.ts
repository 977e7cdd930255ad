import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@pawl/schema/id';
import { noBudget, noUsage } from '@pawl/schema/record';
import type { Agent, Project, Run, Session } from '@pawl/schema/record';
import { insertAgent } from '@pawl/store/agents/agents';
import { insertProject } from '@pawl/store/projects/projects';
import { insertRun } from '@pawl/store/sessions/runs';
import { insertSession } from '@pawl/store/sessions/sessions';
import type { Store } from '@pawl/store/store';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { onTestFinished } from 'vitest';

/** A clock that stands still unless a test moves it. */
export const fixedTime = 1_700_000_000_000;
export const fixedClock = (): number => fixedTime;

/** Text that databases, JSON and terminals treat specially. */
export const hostileText = 'a\0b \ud800 lone \udc00 \u0010 0010 \u202e \u001b]52;c;eA==\u0007 😀 \r\n';

/** A directory for this test, removed when it ends. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'pawl-store-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export function projectRecord(fields: Partial<Project> = {}): Project {
  const id = newId();
  return {
    id,
    name: `project-${id.slice(0, 4).toLowerCase()}`,
    root: `/projects/${id}`,
    createdAt: fixedTime,
    ...fields,
  };
}

export function agentRecord(fields: Partial<Agent> = {}): Agent {
  const id = newId();
  return {
    id,
    alias: `agent-${id.toLowerCase().replaceAll('_', 'x')}`,
    projectId: null,
    parentId: null,
    supervisorId: null,
    forkMessageId: 0,
    forkedConversation: null,
    snapshot: null,
    freshAfter: 0,
    definition: 'worker',
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
    createdAt: fixedTime,
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

export function runRecord(agent: Agent, fields: Partial<Run> = {}): Run {
  return {
    id: newId(),
    projectId: agent.projectId,
    agentId: agent.id,
    agentKind: agent.kind,
    parentRunId: null,
    task: 'count to three',
    definition: null,
    startedAt: fixedTime,
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

export function sessionRecord(run: Run, fields: Partial<Session> = {}): Session {
  return {
    id: newId(),
    agentId: run.agentId,
    runId: run.id,
    no: 1,
    purpose: 'work',
    conversation: 'new',
    providerSessionId: null,
    accountId: null,
    plannedAt: fixedTime,
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

/** Adds a project with one agent that has a run and a session. */
export async function addTeam(store: Store): Promise<{ project: Project; agent: Agent; run: Run; session: Session }> {
  const project = projectRecord();
  const agent = agentRecord({ projectId: project.id });
  const run = runRecord(agent);
  const session = sessionRecord(run);
  await store.write(async (tx) => {
    await insertProject(tx, project);
    await insertAgent(tx, agent);
    await insertRun(tx, run);
    await insertSession(tx, session);
  });
  return { project, agent, run, session };
}

/** Emits an event with nothing but a reason. */
export function emitStopped(tx: WriteTransaction, reason: string): void {
  tx.emit({ type: 'daemon.stopped', data: { reason } });
}

/** The numbers from `first` to `last`. */
export function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
