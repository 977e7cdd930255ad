import type { QueryClient } from '@tanstack/react-query';
import { PawlError } from '@pawl/schema/error';
import { useSyncExternalStore } from 'react';
import { client } from './client.ts';
import type { AnswerKind } from './live-effects.ts';
import { answerKinds, outdatedBy, retryDelayMs } from './live-effects.ts';

/** `signed-out`: the daemon knows this browser no more. */
export type Connection = 'connecting' | 'live' | 'lost' | 'signed-out';

/** Events come in bursts: one refetch serves all of those in this time. */
const burstMs = 120;

export type Live = { connection(): Connection; subscribe(listener: () => void): () => void; signOut(): void };

/** Follows the event log with one stream, and marks what is outdated. Hidden pages only remember. */
export function startLive(queries: QueryClient): Live {
  let connection: Connection = 'connecting';
  const listeners = new Set<() => void>();
  const outdated = new Set<AnswerKind>();
  let timer: ReturnType<typeof setTimeout> | null = null;

  function become(next: Connection): void {
    if (connection === next || connection === 'signed-out') return;
    connection = next;
    for (const listener of listeners) listener();
  }
  function flush(): void {
    timer = null;
    if (document.hidden) return;
    for (const kind of outdated) void queries.invalidateQueries({ queryKey: [kind] });
    outdated.clear();
  }
  function mark(kinds: readonly AnswerKind[]): void {
    for (const kind of kinds) outdated.add(kind);
    timer ??= setTimeout(flush, burstMs);
  }
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && outdated.size > 0) flush();
  });

  async function follow(): Promise<void> {
    let seq: number | null = null;
    for (let failures = 0; connection !== 'signed-out'; failures++) {
      try {
        seq ??= (await client.daemon()).lastSeq;
        for await (const message of client.followEvents(seq)) {
          failures = 0;
          if (message.type === 'gap') {
            seq = message.lastSeq;
            mark(answerKinds);
          } else {
            seq = message.event.seq;
            mark(outdatedBy(message.event.type));
          }
        }
      } catch (error) {
        if (error instanceof PawlError && error.code === 'unauthorized') become('signed-out');
      }
      become('lost');
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs(failures)));
      if (await isThere()) {
        become('live');
        mark(answerKinds);
      }
    }
  }
  async function isThere(): Promise<boolean> {
    try {
      await client.daemon();
      return true;
    } catch (error) {
      if (error instanceof PawlError && error.code === 'unauthorized') become('signed-out');
      return false;
    }
  }

  become('live');
  void follow();
  return {
    connection: () => connection,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    signOut: () => become('signed-out'),
  };
}

export function useConnection(live: Live): Connection {
  return useSyncExternalStore(live.subscribe, live.connection);
}
