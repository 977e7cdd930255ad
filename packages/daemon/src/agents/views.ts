import { deriveStatus } from '@pawl/core/agents/status';
import { costOf } from '@pawl/core/accounts/usage';
import type { AgentView } from '@pawl/protocol/agents/view';
import type { Agent, AgentPlace, Project, Run, Session, Usage } from '@pawl/schema/record';
import type { LiveState } from '@pawl/schema/status';

/** An agent for display: its facts, and the status derived from them. */
export function viewAgent(
  facts: { agent: Agent; run: Run | null; session: Session | null },
  more: {
    project: Project | null;
    places: { project: Project; place: AgentPlace }[];
    account: string | null;
    usage: Usage;
    change: AgentView['change'];
    live: LiveState | undefined;
    queued: boolean;
    silentMs: number | null;
    approval: string | null;
  },
): AgentView {
  const { agent, run, session } = facts;
  const status = deriveStatus({ ...facts, ...more });
  return {
    id: agent.id,
    alias: agent.alias,
    project: more.project === null ? null : { id: more.project.id, name: more.project.name },
    parentId: agent.parentId,
    supervisorId: agent.supervisorId,
    forkMessageId: agent.forkMessageId,
    definition: agent.definition,
    kind: agent.kind,
    class: agent.class,
    provider: agent.provider,
    model: agent.model,
    mode: agent.mode,
    account: more.account,
    budget: agent.budget,
    access: agent.access,
    taskId: agent.taskId,
    assignment: agent.assignment,
    change: more.change,
    branch: agent.branch,
    baseCommit: agent.baseCommit,
    worktree: agent.worktree,
    workdir: agent.workdir,
    worktreeEnd: agent.worktreeEnd,
    places: more.places.map(({ project, place: { path, branch, baseCommit, end } }) => ({
      project: { id: project.id, name: project.name },
      path,
      branch,
      baseCommit,
      end,
    })),
    createdAt: agent.createdAt,
    endedAt: agent.endedAt,
    adopted: agent.adopted,
    paused: session !== null && session.endedAt === null && session.pausedAt !== null,
    status: status.status,
    activity: status.activity,
    live: status.live,
    detail: status.detail,
    exhaustedUntil: status.exhaustedUntil,
    run: run === null ? null : viewRun(run),
    session:
      session === null
        ? null
        : {
            id: session.id,
            no: session.no,
            pid: session.pid,
            providerSessionId: session.providerSessionId,
            exitCode: session.exitCode,
            sandbox: session.sandbox,
          },
    usage: more.usage,
    cost: costOf(more.usage),
  };
}

function viewRun(run: Run): NonNullable<AgentView['run']> {
  const { id, task, detail, questions, cause, startedAt, endedAt } = run;
  return { id, status: run.outcome ?? 'running', task, detail, questions, cause, startedAt, endedAt };
}
