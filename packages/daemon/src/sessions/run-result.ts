import { cutText } from '@pawl/core/shorten';
import type { RunResult } from '@pawl/protocol/agents/runs/view';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent, Run } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { lastRunMessages } from '@pawl/store/sessions/messages';
import { runById } from '@pawl/store/sessions/runs';
import type { Wakeable } from '../platform/wakeable.ts';
import { createWakeable } from '../platform/wakeable.ts';
import type { Platform } from '../platform/platform.ts';

/** Interval of checks, in case a wake was lost. */
const lookMs = 1_000;

/** How many of a run's messages are searched for its final one. */
const lastMessages = 20;

export type RunResults = {
  /** A run with its result, once it has ended or after `waitMs`. */
  wait(runId: string, waitMs: number, signal: AbortSignal): Promise<RunResult>;
};

/** Lets callers wait for the end of runs. Reads results from stored facts, so a restart of the daemon loses none. */
export function createRunResults({ store }: Platform): RunResults {
  const waiters = new Map<string, Set<Wakeable>>();
  store.onCommit(({ events }) => {
    if (waiters.size === 0 || !events.some(({ type }) => type === 'run.ended' || type === 'agent.killed')) return;
    // A kill may end many runs; each waiter checks for itself.
    for (const set of waiters.values()) for (const wakes of set) wakes.wake();
  });

  async function untilEnded(runId: string, waitMs: number, signal: AbortSignal): Promise<void> {
    const set = waiters.get(runId) ?? new Set();
    waiters.set(runId, set);
    const wakes = createWakeable();
    set.add(wakes);
    const deadline = performance.now() + waitMs;
    try {
      for (;;) {
        const version = wakes.version();
        const leftMs = deadline - performance.now();
        if (leftMs <= 0 || (await requiredRun(runId)).outcome !== null) return;
        await wakes.wait(version, Math.min(leftMs, lookMs), signal);
      }
    } finally {
      set.delete(wakes);
      if (set.size === 0) waiters.delete(runId);
    }
  }

  async function requiredRun(runId: string): Promise<Run> {
    const run = await runById(store.db, runId);
    if (run === null) throw new PawlError('not_found', `There is no run ${JSON.stringify(runId.slice(0, 80))}.`);
    return run;
  }

  return {
    async wait(runId, waitMs, signal) {
      if (waitMs > 0) {
        if (waiters.size >= limits.resultWaits)
          throw new PawlError('busy', `${limits.resultWaits} callers wait for results.`, { hint: 'Try again later.' });
        await untilEnded(runId, waitMs, signal);
      }
      const run = await requiredRun(runId);
      const agent = await agentById(store.db, run.agentId);
      if (agent === null) throw new PawlError('agent_not_found', `There is no agent ${run.agentId}.`);
      return { ...viewRun(run, agent), ...(await resultOf(run)) };
    },
  };

  /** The whole result of a run. Its record has the beginning only; its last message has the rest. */
  async function resultOf(run: Run): Promise<Pick<RunResult, 'result' | 'cut'>> {
    if (run.outcome === null) return { result: null, cut: false };
    const short = run.detail ?? '';
    const messages = await lastRunMessages(store.db, run.agentId, run.id, lastMessages);
    const whole = messages.findLast(({ content }) => cutText(content, limits.detailCharacters) === short);
    const result = whole?.content ?? short;
    return { result: cutText(result, limits.resultCharacters), cut: result.length > limits.resultCharacters };
  }
}

export function viewRun(run: Run, agent: Agent): Pick<RunResult, 'run' | 'agent'> {
  const { id, repoPath, sessionId, agentId, agentKind, parentRunId, detail, questions, startedAt, endedAt } = run;
  return {
    run: {
      id,
      repoPath,
      sessionId,
      agentId,
      agentKind,
      parentRunId,
      detail,
      questions,
      startedAt,
      endedAt,
      status: run.outcome ?? 'running',
    },
    agent: { id: agent.id, alias: agent.alias, definition: agent.definition },
  };
}

/** Refuses an agent the result of a run that is neither its own nor a child's: a result goes to the parent only. */
export async function refuseResult(platform: Platform, callerId: string, runId: string): Promise<void> {
  const run = await runById(platform.store.db, runId);
  const agent = run === null ? null : await agentById(platform.store.db, run.agentId);
  if (agent === null) throw new PawlError('not_found', `There is no run ${JSON.stringify(runId.slice(0, 80))}.`);
  if (agent.id === callerId || agent.parentId === callerId) return;
  throw new PawlError('forbidden', 'Agents may only read the results of their own and their children’s runs.');
}
