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
 * Where a fork waits: an agent is forked when none of its tools runs and no answer of it is half written. While one fork
 * waits, another one of the same agent is refused, and a kill of that agent waits.
 */
export type Barrier = {
  /**
   * Does the fork when the agent may be forked. While one waits, and until it is done, a second one is refused; with
   * `wait` false it refuses to wait at all.
   */
  pass<T>(agent: Agent, options: PassOptions, fork: () => Promise<T>): Promise<T>;
  /** For an agent that forks itself: it is in the middle of that very call, so nothing can be waited for but its words. */
  passItself<T>(agent: Agent, fork: () => Promise<T>): Promise<T>;
  /**
   * Resolves when no fork of these agents waits, or was waited for and is being made; or when that takes too long: a kill
   * waits for a fork, but not for ever.
   */
  settled(agentIds: readonly string[]): Promise<void>;
};

export type PassOptions = {
  wait: boolean;
  signal: AbortSignal | null;
  /** The fork takes the agent's files along, so its worktree has to be there. */
  needsFiles: boolean;
};

const reasonCharacters = 200;

/** The barrier of one daemon. A fork that waits is no fact: when the daemon dies, nobody waits any more. */
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

  /** What a fork would have to wait for now, in words; null when nothing. */
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
      // Whoever asked hears of a failure; those who only wait for the end need not.
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
