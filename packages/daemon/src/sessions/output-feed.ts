import { limits } from '@pawl/schema/limit';
import type { Chunk } from '@pawl/schema/record';
import { readChunks } from '@pawl/store/sessions/chunks';
import type { Store } from '@pawl/store/store';
import { endedAgents } from '../platform/ended-agents.ts';
import type { Wakeable } from '../platform/wakeable.ts';
import { createWakeable } from '../platform/wakeable.ts';

/** An agent's output for readers that follow it at their own pace. */
export type OutputFeed = { open(agentId: string): OutputReader };

export type OutputReader = {
  /** Waits for chunks after `chunkId`; null once the agent has ended and all was returned. */
  next(chunkId: number, signal: AbortSignal): Promise<Chunk[] | null>;
  close(): void;
};

const batch = { limitRows: 64, limitBytes: 128 * 1024 };

/** How much recently committed output is kept for readers that follow an agent. */
const recentBytes = 1024 * 1024;

/** Output committed while an agent is followed, so that readers who are up to date need no query. */
type Following = {
  wakes: Wakeable;
  readers: number;
  recent: Chunk[];
  recentBytes: number;
  /** The newest chunk that is no longer in `recent`. */
  droppedId: number;
  /** All chunks of the agent with a greater id are in `recent`; null while that is unknown. */
  knownAfter: number | null;
};

/** Follows the store; `isWorking` tells if more output of an agent may come. */
export function followOutput(store: Store, isWorking: (agentId: string) => Promise<boolean>): OutputFeed {
  const following = new Map<string, Following>();
  store.onCommit(({ chunks, events }) => {
    for (const chunk of chunks) remember(following.get(chunk.agentId), chunk);
    const agents = new Set([...chunks, ...events].map(({ agentId }) => agentId));
    for (const event of events) for (const id of endedAgents(event)) agents.add(id);
    for (const agentId of agents) if (agentId !== null) following.get(agentId)?.wakes.wake();
  });

  async function read(agentId: string, chunkId: number, entry: Following): Promise<Chunk[]> {
    if (entry.knownAfter === null || chunkId < entry.knownAfter) {
      const chunks = await readChunks(store.db, { agentId, afterId: chunkId, ...batch });
      if (chunks.length > 0) return chunks;
      // The store has nothing later, so from now on commits report everything.
      entry.knownAfter ??= Math.max(chunkId, entry.droppedId);
      if (chunkId < entry.knownAfter) return [];
    }
    return entry.recent.filter((chunk) => chunk.id > chunkId).slice(0, batch.limitRows);
  }

  async function next(
    agentId: string,
    chunkId: number,
    signal: AbortSignal,
    entry: Following,
  ): Promise<Chunk[] | null> {
    for (;;) {
      const version = entry.wakes.version();
      const chunks = await read(agentId, chunkId, entry);
      if (chunks.length > 0) return chunks;
      if (!(await isWorking(agentId))) {
        const last = await readChunks(store.db, { agentId, afterId: chunkId, ...batch });
        return last.length > 0 ? last : null;
      }
      if (!(await entry.wakes.wait(version, limits.heartbeatMs, signal))) return [];
    }
  }

  return {
    open(agentId) {
      const entry = following.get(agentId) ?? newFollowing();
      following.set(agentId, entry);
      entry.readers++;
      return {
        next: (chunkId, signal) => next(agentId, chunkId, signal, entry),
        close: () => void (--entry.readers === 0 && following.delete(agentId)),
      };
    },
  };
}

function newFollowing(): Following {
  return { wakes: createWakeable(), readers: 0, recent: [], recentBytes: 0, droppedId: 0, knownAfter: null };
}

function remember(entry: Following | undefined, chunk: Chunk): void {
  if (entry === undefined) return;
  entry.recent.push(chunk);
  entry.recentBytes += chunk.bytes.length;
  while (entry.recentBytes > recentBytes) {
    const dropped = entry.recent.shift();
    if (dropped === undefined) return;
    entry.recentBytes -= dropped.bytes.length;
    entry.droppedId = dropped.id;
    if (entry.knownAfter !== null) entry.knownAfter = dropped.id;
  }
}
