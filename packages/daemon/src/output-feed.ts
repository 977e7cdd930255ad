import { limits } from '@pawl/schema/limit';
import type { Chunk } from '@pawl/schema/record';
import { readChunks } from '@pawl/store/chunks';
import type { Store } from '@pawl/store/store';
import type { Wakeable } from './wakeable.ts';
import { createWakeable } from './wakeable.ts';

/** An agent's output for readers that follow it, each at its own pace. */
export type OutputFeed = {
  /** The next chunks after `chunkId`, after a wait if need be; null once the agent has ended and all was given. */
  next(agentId: string, chunkId: number, signal: AbortSignal): Promise<Chunk[] | null>;
};

const batch = { limitRows: 64, limitBytes: 512 * 1024 };

/** Follows the store; `isWorking` says whether more output of an agent may come. */
export function followOutput(store: Store, isWorking: (agentId: string) => Promise<boolean>): OutputFeed {
  const wakes = new Map<string, { wakeable: Wakeable; readers: number }>();
  store.onCommit(({ chunks, events }) => {
    const agents = new Set([...chunks, ...events].map(({ agentId }) => agentId));
    for (const agentId of agents) if (agentId !== null) wakes.get(agentId)?.wakeable.wake();
  });

  async function wait(
    agentId: string,
    chunkId: number,
    signal: AbortSignal,
    wakeable: Wakeable,
  ): Promise<Chunk[] | null> {
    for (;;) {
      const version = wakeable.version();
      const working = await isWorking(agentId);
      const chunks = await readChunks(store.db, { agentId, afterId: chunkId, ...batch });
      if (chunks.length > 0) return chunks;
      if (!working) return null;
      if (!(await wakeable.wait(version, limits.heartbeatMs, signal))) return [];
    }
  }

  return {
    async next(agentId, chunkId, signal) {
      const entry = wakes.get(agentId) ?? { wakeable: createWakeable(), readers: 0 };
      wakes.set(agentId, entry);
      entry.readers++;
      try {
        return await wait(agentId, chunkId, signal, entry.wakeable);
      } finally {
        if (--entry.readers === 0) wakes.delete(agentId);
      }
    },
  };
}
