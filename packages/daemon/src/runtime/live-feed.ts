import { beforeLive, nextLiveSeq } from '@pawl/core/runtime/runtime-seq';
import { limits } from '@pawl/schema/limit';
import type { RuntimePayload } from '@pawl/schema/runtime/runtime-event';
import type { Wakeable } from '../platform/wakeable.ts';
import { createWakeable } from '../platform/wakeable.ts';

/** The agent and run of an event, as far as known. */
export type Subject = { agentId: string | null; projectId: string | null; runId?: string | undefined };

/** An event that is not stored. */
export type LiveEvent = { seq: number; subject: Subject; payload: RuntimePayload };

/** The latest events that are not stored, for readers that follow them at their own pace. */
export type LiveFeed = {
  publish(subject: Subject, payload: RuntimePayload): void;
  /** The kept events after a number. */
  after(seq: number): readonly LiveEvent[];
  /** The number of the newest event that is gone. A reader that is not past it has missed something. */
  goneUntil(): number;
  /** The number of the newest event. */
  head(): number;
  wakes: Wakeable;
};

/** How much text the kept events may have. */
const keptCharacters = 2 * 1024 * 1024;

/** Numbers events behind the newest event of the log, whose `seq` is given. Keeps the newest. */
export function createLiveFeed(lastSeq: () => number, keptEvents: number = limits.recentEvents): LiveFeed {
  const wakes = createWakeable();
  let kept: LiveEvent[] = [];
  let characters = 0;
  let gone = beforeLive(lastSeq());
  let newest = gone;

  /** Drops the older half at once, so that a full feed does not copy itself for each event. */
  function makeRoom(): void {
    if (kept.length <= keptEvents && characters <= keptCharacters) return;
    const dropped = kept.slice(0, Math.ceil(kept.length / 2));
    kept = kept.slice(dropped.length);
    gone = dropped.at(-1)?.seq ?? gone;
    characters = kept.reduce((sum, { payload }) => sum + sizeOf(payload), 0);
  }

  return {
    publish(subject, payload) {
      const seq = nextLiveSeq(lastSeq(), newest);
      if (seq === null) return;
      newest = seq;
      kept.push({ seq, subject, payload });
      characters += sizeOf(payload);
      makeRoom();
      wakes.wake();
    },
    after(seq) {
      if (seq >= newest) return [];
      return kept.slice(kept.findIndex((event) => event.seq > seq));
    },
    goneUntil: () => gone,
    head: () => newest,
    wakes,
  };
}

function sizeOf(payload: RuntimePayload): number {
  if (payload.type === 'Token') return payload.token.length;
  return payload.type === 'Message' ? payload.content.length : 100;
}
