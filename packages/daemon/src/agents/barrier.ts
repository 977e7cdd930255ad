import { firstLine } from '@pawl/core/shorten';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import type { Store } from '@pawl/store/store';
import type { Ingest } from '../sessions/ingest/ingest.ts';
import type { TurnState } from '../sessions/ingest/intake.ts';
import { setTimeout as delay } from 'node:timers/promises';
import type { Wakeable } from '../platform/wakeable.ts';
import { createWakeable } from '../platform/wakeable.ts';

/**
 * Delays a fork until none of the agent's tools runs and no answer is half written. Meanwhile a second fork of the
 * agent is refused, and a kill waits.
 */
export type Barrier = {
  /**
   * Forks as soon as the agent may be forked. Refuses a second fork meanwhile; with `wait` false, refuses instead of
   * waiting.
   */
  pass<T>(agent: Agent, options: PassOptions, fork: () => Promise<T>): Promise<T>;
  /**
   * For an agent that forks itself: the fork is a tool call of its own, so this waits only for its answer to be stored.
   */
  passItself<T>(agent: Agent, fork: () => Promise<T>): Promise<T>;
  /**
   * Resolves when no fork of these agents is pending or in progress, or after a timeout: a kill waits for a fork, but
   * not forever.
   */
  settled(agentIds: readonly string[]): Promise<void>;
};

export type PassOptions = {
  wait: boolean;
  signal: AbortSignal | null;
  /** The fork copies the agent's files, so its worktree must exist. */
  needsFiles: boolean;
};

const reasonCharacters = 200;

/** The barrier of one daemon. Pending forks are not stored: they end with the daemon. */
export function createBarrier(store: Store, ingest: Ingest): Barrier {
  const waiting = new Map<string, Promise<void>>();
  const wakeables = new Map<string, Wakeable>();
  store.onCommit(({ chunks, events }) => {
    if (wakeables.size === 0) return;
    for (const { agentId } of [...chunks, ...events]) wakeables.get(agentId ?? '')?.wake();
  });

  function wakesOf(agentId: string): Wakeable {
    const known = wakeables.get(agentId) ?? createWakeable();
    wakeables.set(agentId, known);
    return known;
  }

  /** The step that a fork must wait for now; null if there is none. */
  async function obstacle(agent: Agent, needsFiles: boolean): Promise<string | null> {
    await ingest.catchUp(agent.id);
    const reason = inWords(ingest.turn(agent.id));
    if (reason !== null || !needsFiles || agent.worktree === null) return reason;
    const now = await agentById(store.db, agent.id);
    return now !== null && now.endedAt === null && now.worktreeReadyAt === null ? 'its worktree' : null;
  }

  function refuseSecond(agent: Agent): void {
    if (!waiting.has(agent.id)) return;
    throw new PawlError('conflict', `A fork of ${agent.alias} is already in progress.`, {
      hint: 'Wait until it is done.',
    });
  }

  async function waitUntilClear(agent: Agent, reason: string, options: PassOptions): Promise<void> {
    await announce(store, agent, reason);
    const aborted = options.signal ?? new AbortController().signal;
    const wakes = wakesOf(agent.id);
    for (;;) {
      const version = wakes.version();
      if ((await obstacle(agent, options.needsFiles)) === null) return;
      await wakes.wait(version, limits.pollMs, aborted);
    }
  }

  return {
    async pass(agent, options, fork) {
      refuseSecond(agent);
      const reason = await obstacle(agent, options.needsFiles);
      if (reason === null) return fork();
      if (!options.wait) throw new PawlError('busy', `Waiting for ${agent.alias} to finish: ${reason}.`);
      refuseSecond(agent);
      const done = waitUntilClear(agent, reason, options).then(fork);
      // The caller handles the failure; others only wait for the end.
      const settled = done.then(
        () => undefined,
        () => undefined,
      );
      waiting.set(agent.id, settled);
      void settled.then(() => {
        waiting.delete(agent.id);
        wakeables.delete(agent.id);
      });
      return done;
    },
    async passItself(agent, fork) {
      await ingest.catchUp(agent.id);
      return fork();
    },
    async settled(agentIds) {
      const forks = agentIds.map((agentId) => waiting.get(agentId)).filter((fork) => fork !== undefined);
      if (forks.length === 0) return;
      const enough = new AbortController();
      const tooLong = delay(limits.killPatienceMs, undefined, { signal: enough.signal }).catch(() => undefined);
      await Promise.race([Promise.all(forks), tooLong]);
      enough.abort();
    },
  };
}

async function announce(store: Store, agent: Agent, reason: string): Promise<void> {
  await store.write(async (tx) => {
    tx.emit({ type: 'agent.fork_waiting', projectId: agent.projectId, agentId: agent.id, data: { reason } });
  });
}

function inWords({ tools, answering }: TurnState): string | null {
  if (tools.length > 0) return firstLine(`the tool ${tools.join(', ')}`, reasonCharacters);
  return answering ? 'its answer' : null;
}
