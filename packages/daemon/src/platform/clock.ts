import { currentBoot } from '@pawl/host/process/process-table-proc';
import { limits } from '@pawl/schema/limit';
import { daemonState, updateDaemonState } from '@pawl/store/facts/daemon-state';
import type { Store } from '@pawl/store/store';
import { clampTimes, shiftTimes } from '@pawl/store/time-jump';
import { uptime } from 'node:os';
import * as z from 'zod';

/**
 * The daemon's time. It starts at the system's time and then advances evenly, whatever the system clock is set to, so
 * stored times stay comparable. `followJump` applies a jump of the system clock and moves stored times in the same
 * transaction.
 */
export type DaemonClock = {
  now(): number;
  /** How far the system clock has jumped since the last `follow`; 0 if it has not. */
  jumpMs(): number;
  /** Applies a jump. */
  follow(jumpMs: number): void;
  /** The current values of both clocks, to compare after a restart. */
  anchor(): Anchor;
};

const anchorSchema = z.object({ boot: z.string().nullable(), monotonicMs: z.number(), wallMs: z.number() });
type Anchor = z.infer<typeof anchorSchema>;

/** Combines a wall clock, which can be set, with a monotonic one that counts milliseconds since boot. */
export function createClock(given: { wall?: () => number; monotonic?: () => number } = {}): DaemonClock {
  const wall = given.wall ?? Date.now;
  // A test that moves its only clock means that time passes.
  const monotonic = given.monotonic ?? given.wall ?? createUptime();
  const boot = given.wall === undefined ? currentBoot : 'injected';
  let offsetMs = wall() - monotonic();
  const now = () => Math.round(offsetMs + monotonic());
  return {
    now,
    jumpMs() {
      const beforeMs = now();
      const jumpMs = wall() - now();
      // If the process was suspended between these readings, they cannot be compared.
      if (now() - beforeMs >= limits.clockJumpMs / 2) return 0;
      return Math.abs(jumpMs) < limits.clockJumpMs ? 0 : Math.round(jumpMs);
    },
    follow: (jumpMs) => void (offsetMs += jumpMs),
    anchor: () => ({ boot, monotonicMs: monotonic(), wallMs: now() }),
  };
}

/** Milliseconds since boot, including sleep: `performance.now()` stops while the machine sleeps. */
function createUptime(): () => number {
  const startMs = uptime() * 1_000 - performance.now();
  let sleptMs = 0;
  let lookedMs = performance.now();
  return () => {
    const nowMs = performance.now();
    // `uptime` is exact to 10 ms at best and reads a file, so use it only to detect sleep.
    if (nowMs - lookedMs >= limits.clockLookMs) {
      lookedMs = nowMs;
      const missedMs = uptime() * 1_000 - nowMs - startMs - sleptMs;
      if (missedMs >= limits.clockJumpMs) sleptMs += missedMs;
    }
    return startMs + sleptMs + nowMs;
  };
}

/** Shifts stored times when a daemon starts, in case the system clock was set while none ran. */
export async function settleTimes(store: Store, clock: DaemonClock): Promise<number> {
  const known = anchorSchema.safeParse(JSON.parse((await daemonState(store.db)).clock ?? 'null'));
  const jumpMs = known.success ? jumpSince(known.data, clock.anchor()) : 0;
  await store.write(async (tx) => {
    if (jumpMs !== 0) await shiftTimes(tx, jumpMs);
    await clampTimes(tx);
    await updateDaemonState(tx, { clock: JSON.stringify(clock.anchor()) });
  });
  return jumpMs;
}

/** How far the system clock was set between two readings of both clocks; 0 after a reboot. */
function jumpSince(before: Anchor, after: Anchor): number {
  if (before.boot === null || before.boot !== after.boot) return 0;
  const jumpMs = Math.round(after.wallMs - before.wallMs - (after.monotonicMs - before.monotonicMs));
  return Math.abs(jumpMs) < limits.clockJumpMs ? 0 : jumpMs;
}

/** Follows a jump of the system clock, if there was one, and shifts stored times with it. */
export async function followJump(store: Store, clock: DaemonClock): Promise<number> {
  const jumpMs = clock.jumpMs();
  if (jumpMs === 0) return 0;
  let followed = false;
  try {
    await store.write(async (tx) => {
      await shiftTimes(tx, jumpMs);
      // No other transaction starts before this one commits, so none sees only one of the two changes.
      clock.follow(jumpMs);
      followed = true;
      await updateDaemonState(tx, { clock: JSON.stringify(clock.anchor()) });
    });
  } catch (error) {
    if (followed) clock.follow(-jumpMs);
    throw error;
  }
  return jumpMs;
}
