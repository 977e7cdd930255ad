import type { Question } from '@pawl/schema/mail';
import type { Wakeable } from '../platform/wakeable.ts';
import { createWakeable } from '../platform/wakeable.ts';

/** In-memory waits: for the end of a question, or for a question to arrive. None survives the daemon. */
export type QuestionWaits = {
  /** Adds a wait for the end of a question; call `leave` to end it. */
  await(questionId: string, who: Awaiting): { wakes: Wakeable; leave(): void };
  /** True while a command of the asker waits, which will show the answer. */
  isAwaited(questionId: string): boolean;
  /** Hints that a question may have changed. */
  wake(questionId: string): void;
  /** Adds a listener of an agent; it receives at most one question. */
  listen(agentId: string): Listening;
  /** Takes a waiting listener, to give it a question or to put it back; null if there is none. */
  take(agentId: string): Taken | null;
};

/** The role of a waiting command: it is the asker's, or an observer's. */
export type Awaiting = 'asker' | 'onlooker';

export type Listening = {
  /** The question it received; null after `timeoutMs`. Rejects on abort. In all cases it stops listening. */
  question(timeoutMs: number, signal: AbortSignal): Promise<Question | null>;
};

export type Taken = {
  /** False if it has left meanwhile: then the question is undelivered. */
  give(question: Question): boolean;
  putBack(): void;
};

type Listener = { state: 'waiting' | 'taken' | 'left'; hear(question: Question | null): void; wantsToLeave: boolean };

export function createQuestionWaits(): QuestionWaits {
  const awaited = new Map<string, { wakes: Wakeable; count: Record<Awaiting, number> }>();
  const listeners = new Map<string, Set<Listener>>();

  function remove(agentId: string, listener: Listener): void {
    const all = listeners.get(agentId);
    all?.delete(listener);
    if (all?.size === 0) listeners.delete(agentId);
  }

  function add(agentId: string, listener: Listener): void {
    listeners.set(agentId, (listeners.get(agentId) ?? new Set()).add(listener));
  }

  return {
    await(questionId, who) {
      const entry = awaited.get(questionId) ?? { wakes: createWakeable(), count: { asker: 0, onlooker: 0 } };
      awaited.set(questionId, entry);
      entry.count[who]++;
      let left = false;
      return {
        wakes: entry.wakes,
        leave() {
          if (left) return;
          left = true;
          entry.count[who]--;
          if (entry.count.asker + entry.count.onlooker === 0) awaited.delete(questionId);
        },
      };
    },
    isAwaited: (questionId) => (awaited.get(questionId)?.count.asker ?? 0) > 0,
    wake: (questionId) => awaited.get(questionId)?.wakes.wake(),
    listen(agentId) {
      const { promise, resolve } = Promise.withResolvers<Question | null>();
      const listener: Listener = { state: 'waiting', hear: resolve, wantsToLeave: false };
      add(agentId, listener);
      return {
        async question(timeoutMs, signal) {
          const leave = () => {
            listener.wantsToLeave = true;
            // A taken listener is about to receive a question, or to be put back.
            if (listener.state !== 'waiting') return;
            listener.state = 'left';
            remove(agentId, listener);
            resolve(null);
          };
          const timer = setTimeout(leave, timeoutMs);
          if (signal.aborted) leave();
          else signal.addEventListener('abort', leave, { once: true });
          try {
            const question = await promise;
            if (question === null) signal.throwIfAborted();
            return question;
          } finally {
            clearTimeout(timer);
            signal.removeEventListener('abort', leave);
          }
        },
      };
    },
    take(agentId) {
      const listener = listeners.get(agentId)?.values().next().value;
      if (listener === undefined) return null;
      listener.state = 'taken';
      remove(agentId, listener);
      return {
        give(question) {
          listener.state = 'left';
          listener.hear(listener.wantsToLeave ? null : question);
          return !listener.wantsToLeave;
        },
        putBack() {
          if (listener.wantsToLeave) return listener.hear(null);
          listener.state = 'waiting';
          add(agentId, listener);
        },
      };
    },
  };
}
