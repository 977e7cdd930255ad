import { useEffect, useRef, useState } from 'react';
import { client } from '../app/client.ts';
import { retryDelayMs } from '../app/live-effects.ts';
import type { Turn } from './turns.ts';
import { createTurns } from './turns.ts';

/** How many chunks of older output are loaded. */
const tail = 2_000;
/** Output comes faster than a screen can show it. */
const frameMs = 50;

/** The messages of an agent, live. A lost connection continues after the last chunk, so that nothing is lost or doubled. */
export function useTurns(agentId: string, isWorking: boolean): readonly Turn[] {
  const [shown, show] = useState<{ turns: readonly Turn[] }>({ turns: [] });
  const memory = useRef({ agentId, turns: createTurns(), last: null as number | null });
  useEffect(() => {
    if (memory.current.agentId !== agentId) memory.current = { agentId, turns: createTurns(), last: null };
    const kept = memory.current;
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | null = null;
    const draw = () => {
      timer = null;
      show({ turns: [...kept.turns.list()] });
    };
    async function follow(): Promise<void> {
      for (let failures = 0; !ending.signal.aborted; failures++) {
        try {
          const from = kept.last === null ? { tail } : { after: kept.last };
          for await (const message of client.followOutput(agentId, { ...from, format: 'events' }, ending.signal)) {
            failures = 0;
            if (message.type === 'ended') return;
            kept.last = Math.max(kept.last ?? 0, message.chunk.id);
            if (kept.turns.add(message.chunk)) timer ??= setTimeout(draw, frameMs);
          }
        } catch {
          // Tried again below.
        }
        await new Promise((resolve) => setTimeout(resolve, retryDelayMs(failures)));
      }
    }
    draw();
    void follow();
    return () => {
      ending.abort();
      if (timer !== null) clearTimeout(timer);
    };
  }, [agentId, isWorking]);
  return shown.turns;
}
