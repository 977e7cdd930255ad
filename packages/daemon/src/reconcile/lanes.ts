import { createSerial } from '../serial.ts';

/** One job at a time for each key; different keys do not wait for each other. */
export type Lanes = {
  run<T>(key: string, job: () => Promise<T>): Promise<T>;
  /** Resolves when every job that was begun has ended. */
  drain(): Promise<void>;
};

/** Lanes that exist only while somebody is in them. */
export function createLanes(): Lanes {
  const lanes = new Map<string, { serially: ReturnType<typeof createSerial>; jobs: number }>();
  return {
    async run(key, job) {
      const lane = lanes.get(key) ?? { serially: createSerial(), jobs: 0 };
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
