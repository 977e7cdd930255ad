import { currentBoot } from '@pawl/host/process/process-table-proc';
import { limits } from '@pawl/schema/limit';
import { getSetting, setSetting } from '@pawl/store/settings';
import type { Store } from '@pawl/store/store';
import { clampTimes, shiftTimes } from '@pawl/store/time-jump';
import { uptime } from 'node:os';
import * as z from 'zod';

/**
 * The daemon's time. It starts as the system's time and then goes on evenly, whatever the system's clock is set to. So a stored time and
 * the time it is compared with always belong together. A jump of the system's clock is taken over by `followJumps`, which moves the stored
 * times in the same transaction.
 */
export type DaemonClock = {
  now(): number;
  /** By how much the system's clock has been set since it was last followed; 0 when it has not. */
  jumpMs(): number;
  /** Takes a jump over. */
  follow(jumpMs: number): void;
  /** Both clocks now, to be compared with after a restart. */
  anchor(): Anchor;
};

const anchorSchema = z.object({ boot: z.string().nullable(), monotonicMs: z.number(), wallMs: z.number() });
type Anchor = z.infer<typeof anchorSchema>;

const anchorKey = 'clock';

/** Makes a clock of two: one that can be set, and one that counts milliseconds since the machine started. */
export function createClock(given: { wall?: () => number; monotonic?: () => number } = {}): DaemonClock {
  const wall = given.wall ?? Date.now;
  // A test that moves its only clock lets time pass.
  const monotonic = given.monotonic ?? given.wall ?? createUptime();
  const boot = given.wall === undefined ? bootOrNull() : 'injected';
  let offsetMs = wall() - monotonic();
  const now = () => Math.round(offsetMs + monotonic());
  return {
    now,
    jumpMs() {
      const beforeMs = now();
      const jumpMs = wall() - now();
      // If this process was stopped between two of these, they say nothing.
      if (now() - beforeMs >= limits.clockJumpMs / 2) return 0;
      return Math.abs(jumpMs) < limits.clockJumpMs ? 0 : Math.round(jumpMs);
    },
    follow: (jumpMs) => void (offsetMs += jumpMs),
    anchor: () => ({ boot, monotonicMs: monotonic(), wallMs: now() }),
  };
}

/** Milliseconds since the machine started, sleep included: `performance.now()` stands still while a machine sleeps. */
function createUptime(): () => number {
  const startMs = uptime() * 1_000 - performance.now();
  let sleptMs = 0;
  let lookedMs = performance.now();
  return () => {
    const nowMs = performance.now();
    // The uptime is exact to 10 ms at best and costs a read of a file, so it only tells how long the machine slept.
    if (nowMs - lookedMs >= limits.clockLookMs) {
      lookedMs = nowMs;
      const missedMs = uptime() * 1_000 - nowMs - startMs - sleptMs;
      if (missedMs >= limits.clockJumpMs) sleptMs += missedMs;
    }
    return startMs + sleptMs + nowMs;
  };
}

/** Brings stored times in line with the system's clock when a daemon starts: it may have been set since the last one left. */
export async function settleTimes(store: Store, clock: DaemonClock): Promise<number> {
  const known = anchorSchema.safeParse(await getSetting(store.db, anchorKey));
  const jumpMs = known.success ? jumpSince(known.data, clock.anchor()) : 0;
  await store.write(async (tx) => {
    if (jumpMs !== 0) await shiftTimes(tx, jumpMs);
    await clampTimes(tx);
    await setSetting(tx, anchorKey, clock.anchor());
  });
  return jumpMs;
}

/** How far the system's clock was set between two looks at both clocks; 0 when the machine was started again between them. */
function jumpSince(before: Anchor, after: Anchor): number {
  if (before.boot === null || before.boot !== after.boot) return 0;
  const jumpMs = Math.round(after.wallMs - before.wallMs - (after.monotonicMs - before.monotonicMs));
  return Math.abs(jumpMs) < limits.clockJumpMs ? 0 : jumpMs;
}

/** Takes over a jump of the system's clock, if there was one: the stored times move with it. */
export async function followJump(store: Store, clock: DaemonClock): Promise<number> {
  const jumpMs = clock.jumpMs();
  if (jumpMs === 0) return 0;
  let followed = false;
  try {
    await store.write(async (tx) => {
      await shiftTimes(tx, jumpMs);
      // No other transaction begins before this one is committed, so none sees one of the two without the other.
      clock.follow(jumpMs);
      followed = true;
      await setSetting(tx, anchorKey, clock.anchor());
    });
  } catch (error) {
    if (followed) clock.follow(-jumpMs);
    throw error;
  }
  return jumpMs;
}

function bootOrNull(): string | null {
  try {
    return currentBoot();
  } catch {
    return null;
  }
}
