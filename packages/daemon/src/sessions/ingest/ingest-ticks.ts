import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Storing } from './commit-batches.ts';
import { takeIn } from './commit-batches.ts';
import type { Intake } from './intake.ts';

/** The delay before storing is retried after a failure. */
export const retryMs = 500;
/** How many sessions one commit covers; the others are next. */
const sessionsPerCommit = 16;

/** Schedules reads of output: soon after a session's files change, some sessions at a time. */
export type IngestTicks = {
  /** The files of a session have changed. */
  wake(sessionId: string): void;
  /** Reads one piece of a session at once, between two ticks; true if there is more. */
  takeOne(intake: Intake, isOpen: () => boolean): Promise<boolean>;
  stop(): void;
};

type TickParts = {
  intakes: ReadonlyMap<string, Intake>;
  storing: Storing;
  serially: <T>(job: () => Promise<T>) => Promise<T>;
};

/** The ticks of one ingest: never two at once. */
export function createIngestTicks({ intakes, storing, serially }: TickParts): IngestTicks {
  const woken = new Set<string>();
  let ticking = false;
  let stopped = false;

  function wake(sessionId: string): void {
    woken.add(sessionId);
    if (ticking || stopped) return;
    ticking = true;
    void serially(tick);
  }

  async function tick(): Promise<void> {
    const taken = takeWoken();
    const stored = await take(taken);
    for (const intake of stored ? taken : []) if (intake.hasMore()) woken.add(intake.target.session.id);
    // Yield to requests between two ticks, however much output there is.
    await nextTurn();
    ticking = false;
    const [next] = woken;
    if (next !== undefined) wake(next);
  }

  function takeWoken(): Intake[] {
    const taken = [...woken].slice(0, sessionsPerCommit);
    for (const sessionId of taken) woken.delete(sessionId);
    return taken.map((sessionId) => intakes.get(sessionId)).filter((intake) => intake !== undefined);
  }

  /** Reads and stores new output of some sessions; false on failure, which is retried later. */
  async function take(taken: Intake[]): Promise<boolean> {
    const stored = await takeIn(storing, taken);
    if (!stored) wakeLater(taken, retryMs);
    for (const intake of stored ? taken : []) {
      const due = intake.dueInMs();
      if (due !== null) wakeLater([intake], due + 1);
    }
    return stored;
  }

  function wakeLater(which: Intake[], delayMs: number): void {
    setTimeout(() => {
      for (const { target } of which) if (intakes.has(target.session.id)) wake(target.session.id);
    }, delayMs).unref();
  }

  return {
    wake,
    takeOne: (intake, isOpen) => serially(async () => isOpen() && (await take([intake])) && intake.hasMore()),
    stop() {
      stopped = true;
    },
  };
}
