import { PawlError } from '@pawl/schema/error';

/** Runs jobs one after another, in order. A failed job does not stop the next. */
export function createSerial(): <T>(job: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const next = last.then(job);
    last = next.catch(() => undefined);
    return next;
  };
}

/** Runs a job when a slot is free. */
export type Limiter = <T>(job: () => Promise<T>) => Promise<T>;

/** Runs at most `slots` jobs at once; the others wait in order. */
export function createLimiter(slots: number): Limiter {
  let free = slots;
  const waiting: (() => void)[] = [];
  return async (job) => {
    if (free > 0) free--;
    else await new Promise<void>((enter) => waiting.push(enter));
    try {
      return await job();
    } finally {
      // Hand the slot over directly, so that no newcomer can take it in between.
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

/** One job at a time per key; different keys run independently. */
export type Lanes = {
  run<T>(key: string, job: () => Promise<T>): Promise<T>;
  /** Resolves when all started jobs have ended. */
  drain(): Promise<void>;
};

/** Lanes exist only while in use; each holds a limited number of jobs. */
export function createLanes(maxJobs = Infinity): Lanes {
  const lanes = new Map<string, { serially: ReturnType<typeof createSerial>; jobs: number }>();
  return {
    async run(key, job) {
      const lane = lanes.get(key) ?? { serially: createSerial(), jobs: 0 };
      if (lane.jobs >= maxJobs) {
        throw new PawlError('unavailable', `More than ${maxJobs} operations are waiting for ${key}.`, {
          hint: 'Wait until some of them are done, and try again.',
        });
      }
      lanes.set(key, lane);
      lane.jobs++;
      try {
        return await lane.serially(job);
      } finally {
        if (--lane.jobs === 0) lanes.delete(key);
      }
    },
    async drain() {
      await Promise.all([...lanes.values()].map((lane) => lane.serially(async () => {})));
    },
  };
}

/** A limited number of slots, with a FIFO queue for the rest. */
export type Slots = {
  /** True if `id` has a slot now; otherwise it is queued. Idempotent. */
  take(id: string): boolean;
  /** Gives `id` a slot even if none is free: it has already started. */
  keep(id: string): void;
  /** Gives a slot back, or leaves the queue. */
  free(id: string): void;
  /** The next in the queue if a slot is free, else null. */
  next(): string | null;
  isWaiting(id: string): boolean;
};

export function createSlots(most: number): Slots {
  const taken = new Set<string>();
  const waiting = new Set<string>();
  return {
    take(id) {
      if (taken.has(id)) return true;
      const [first] = waiting;
      // No overtaking: a free slot goes to the first in the queue.
      if (taken.size >= most || (first !== undefined && first !== id)) {
        waiting.add(id);
        return false;
      }
      waiting.delete(id);
      taken.add(id);
      return true;
    },
    keep(id) {
      waiting.delete(id);
      taken.add(id);
    },
    free(id) {
      waiting.delete(id);
      taken.delete(id);
    },
    next() {
      const [first] = waiting;
      return taken.size < most ? (first ?? null) : null;
    },
    isWaiting: (id) => waiting.has(id),
  };
}
