import type { AgentView } from '@pawl/protocol/agents/view';

/** An id for a number: 22 characters, as every id has. */
export function idOf(number: number): string {
  return `agent${String(number).padStart(17, '0')}`;
}

/** An agent that rests, with whatever the test wants to be different. */
export function agentView(given: Partial<AgentView> = {}): AgentView {
  return {
    id: idOf(1),
    alias: 'brave-otter',
    project: { id: idOf(900), name: 'shop' },
    parentId: idOf(0),
    supervisorId: given.parentId === undefined ? idOf(0) : given.parentId,
    forkMessageId: 0,
    definition: 'worker',
    kind: 'main',
    class: 'ephemeral',
    provider: 'scripted',
    model: null,
    mode: 'execute',
    account: null,
    access: 'full',
    budget: { tokens: null, turns: null, minutes: null, usd: null },
    taskId: null,
    branch: `work/${given.alias ?? 'brave-otter'}`,
    baseCommit: null,
    worktree: null,
    workdir: null,
    worktreeEnd: null,
    places: [],
    createdAt: 0,
    endedAt: null,
    adopted: null,
    paused: false,
    status: 'running',
    activity: 'idle',
    live: 'idle',
    detail: '',
    exhaustedUntil: null,
    run: null,
    session: null,
    assignment: null,
    change: null,
    cost: { usd: null, tokens: null },
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0, turns: 0 },
    ...given,
  };
}

/** A run with a task. */
export function runOf(task: string): NonNullable<AgentView['run']> {
  const open = { detail: null, questions: null, cause: null, startedAt: 0, endedAt: null };
  return { id: idOf(800), status: 'running', task, ...open };
}

/** Agent 0. */
export const root = agentView({ id: idOf(0), alias: 'root', parentId: null, project: null, provider: null });

/** So many generations, each the child of the one before; newest first, as the daemon lists them. */
export function chain(generations: number, given: (number: number) => Partial<AgentView> = () => ({})): AgentView[] {
  const agents = Array.from({ length: generations }, (_, index) =>
    agentView({ id: idOf(index + 1), alias: `agent-${index + 1}`, parentId: idOf(index), ...given(index + 1) }),
  );
  return [root, ...agents].toReversed();
}
