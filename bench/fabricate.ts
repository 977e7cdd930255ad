import { ensureRootAgent, rootAgent } from '@pawl/daemon/platform/root-agent';
import { newId } from '@pawl/schema/id';
import { noBudget, noUsage } from '@pawl/schema/record';
import type { Agent, Project, Run, Session } from '@pawl/schema/record';
import { insertAgent } from '@pawl/store/agents/agents';
import { openDataDirectory } from '@pawl/store/directory/data-directory';
import { insertProject } from '@pawl/store/projects/projects';
import { openDatabase } from '@pawl/store/directory/recovery';
import { insertRun } from '@pawl/store/sessions/runs';
import { insertSession } from '@pawl/store/sessions/sessions';
import type { Store } from '@pawl/store/store';

/** Opens the store of a home that no daemon serves. */
export function openStoreAt(root: string): Promise<Store> {
  return openDatabase(openDataDirectory(root), { clock: Date.now });
}

const perWrite = 500;

/** Adds a project with idle agents: each with a run that has ended, a session and an event. */
export async function addIdleAgents(store: Store, count: number): Promise<void> {
  const project = projectRecord();
  await ensureRootAgent(store);
  const root = await rootAgent(store.db);
  await store.write((tx) => insertProject(tx, project));
  for (let first = 0; first < count; first += perWrite) {
    await store.write(async (tx) => {
      for (let number = first; number < Math.min(count, first + perWrite); number++) {
        // A finished ephemeral agent would leave while the measure runs.
        const agent: Agent = { ...agentRecord(project, root, `agent-${number}`), class: 'persistent' };
        const { run, session } = doneWork(agent, project);
        await insertAgent(tx, agent);
        await insertRun(tx, run);
        await insertSession(tx, session);
        tx.emit({
          type: 'run.ended',
          projectId: project.id,
          agentId: agent.id,
          data: { status: 'completed', detail: null },
        });
      }
    });
  }
}

/** Adds one agent with an open session, and returns their records. */
export async function addOpenSession(store: Store): Promise<{ agent: Agent; session: Session }> {
  const project = projectRecord();
  const agent = agentRecord(project, null, 'loud-agent');
  const { run, session } = doneWork(agent, project);
  const open = { ...session, endedAt: null, exitCode: null, endReason: null };
  await store.write(async (tx) => {
    await insertProject(tx, project);
    await insertAgent(tx, agent);
    await insertRun(tx, { ...run, endedAt: null, outcome: null });
    await insertSession(tx, open);
  });
  return { agent, session: open };
}

export function projectRecord(): Project {
  const id = newId();
  return { id, name: `project-${id.slice(0, 6).toLowerCase()}`, root: `/nowhere/${id}`, createdAt: Date.now() };
}

/** The row of an agent without anything else. */
export function agentRecord(project: Project | null, parent: Agent | null, alias: string): Agent {
  const now = Date.now();
  return {
    id: newId(),
    alias,
    projectId: project?.id ?? null,
    parentId: parent?.id ?? null,
    supervisorId: parent?.id ?? null,
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
    branch: `work/${alias}`,
    baseCommit: null,
    worktree: `/nowhere/${alias}`,
    workdir: null,
    worktreeReadyAt: now,
    worktreeEnd: null,
    createdAt: now,
    stopRequestedAt: null,
    completion: null,
    adopted: null,
    stuckAt: null,
    stuckReason: null,
    endedAt: null,
    endReason: null,
    reapedAt: null,
  };
}

function doneWork(agent: Agent, project: Project): { run: Run; session: Session } {
  const now = Date.now();
  const run: Run = {
    id: newId(),
    projectId: project.id,
    agentId: agent.id,
    agentKind: agent.kind,
    parentRunId: null,
    task: 'a task of the length that people usually write into one line',
    definition: null,
    startedAt: now,
    endedAt: now,
    outcome: 'completed',
    detail: 'done',
    questions: null,
    resultBefore: null,
    waitUntil: null,
    waitFor: null,
    cause: null,
    repoPath: null,
    sessionId: 'default',
  };
  const session: Session = {
    id: newId(),
    agentId: agent.id,
    runId: run.id,
    no: 1,
    purpose: 'work',
    conversation: 'new',
    providerSessionId: null,
    accountId: null,
    plannedAt: now,
    startedAt: now,
    pid: null,
    processStart: null,
    sandbox: null,
    pausedAt: null,
    interruptedAt: null,
    endedAt: now,
    exitCode: 0,
    endReason: 'exited',
    usage: noUsage,
    reported: null,
    result: { ok: true, text: 'done', fault: null },
    limitUntil: null,
  };
  return { run, session };
}
