import { PawlError } from '@pawl/schema/error';

/** Runs jobs one after the other, in the order in which they came. A job that fails does not stop the next. */
export function createSerial(): <T>(job: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const next = last.then(job);
    last = next.catch(() => undefined);
    return next;
  };
}

/** Lets at most `places` jobs run at once; the others wait in the order in which they came. */
export function createGate(places: number): <T>(job: () => Promise<T>) => Promise<T> {
  let free = places;
  const waiting: (() => void)[] = [];
  return async (job) => {
    if (free > 0) free--;
    else await new Promise<void>((enter) => waiting.push(enter));
    try {
      return await job();
    } finally {
      // A place is handed on directly, so that nobody who arrives in between can take it.
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

/** One job at a time for each key; different keys do not wait for each other. */
export type Lanes = {
  run<T>(key: string, job: () => Promise<T>): Promise<T>;
  /** Resolves when every job that was begun has ended. */
  drain(): Promise<void>;
};

/** Lanes that exist only while somebody is in them, each with room for a bounded number of jobs. */
export function createLanes(maxJobs = Infinity): Lanes {
  const lanes = new Map<string, { serially: ReturnType<typeof createSerial>; jobs: number }>();
  return {
    async run(key, job) {
      const lane = lanes.get(key) ?? { serially: createSerial(), jobs: 0 };
      if (lane.jobs >= maxJobs) {
        throw new PawlError('unavailable', `More than ${maxJobs} operations wait for ${key}.`, {
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

/** A bounded number of places; whoever finds none waits in the order in which they came. */
export type Places = {
  /** True when `id` has a place now; else it waits. Asking again changes nothing. */
  take(id: string): boolean;
  /** Gives `id` a place, also when there is none left: it has begun already. */
  keep(id: string): void;
  /** Gives a place back, or leaves the queue. */
  free(id: string): void;
  /** Who may ask again, since there is a place for them; null when there is none, or nobody waits. */
  next(): string | null;
  isWaiting(id: string): boolean;
};

/** Places for at most `most` at once. */
export function createPlaces(most: number): Places {
  const taken = new Set<string>();
  const waiting = new Set<string>();
  return {
    take(id) {
      if (taken.has(id)) return true;
      const [first] = waiting;
      // Nobody overtakes: a free place is for the one who has waited longest.
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
