import { statSync } from 'node:fs';
import type { LaunchLimits } from '@pawl/schema/launch-spec';
import { limits } from '@pawl/schema/limit';
import { proxyRecordName } from '@pawl/schema/proxy';
import { watchFiles } from '../output/watch.ts';
import type { ProcessIdentity } from '../process/identity.ts';
import { isAlive } from '../process/identity.ts';
import { exists, sessionFile } from '../session/session-files.ts';

export type WatchedProcess = {
  directory: string;
  /** The shim on record. */
  identity: ProcessIdentity | null;
  limits: LaunchLimits;
  /** How long it has run before, for the limit of its time. */
  ranMs: number;
};

/** Reports by directory. All of them are advice, and may come twice. */
export type ProcessListener = {
  /** A file of it changed: its output, or its exit code. */
  onChange(directory: string): void;
  /** It has left, or died without a word. */
  onLeft(directory: string): void;
  onLimit(directory: string, limit: keyof LaunchLimits): void;
  /** It could not be looked at, perhaps for want of descriptors; the next look follows. */
  onError(error: unknown): void;
};

export type ProcessWatch = {
  add(process: WatchedProcess): void;
  remove(directory: string): void;
  close(): void;
};

type Entry = WatchedProcess & { dueMs: number; timer: NodeJS.Timeout | null; left: boolean };

/** The longest delay of a timer. */
const longestMs = 2 ** 31 - 1;

/** Watches processes: file events and a poll find their output and exit, a slower poll finds those that died. */
export function watchProcesses(
  listener: ProcessListener,
  { pollMs = limits.pollMs, livenessMs = limits.livenessMs }: { pollMs?: number; livenessMs?: number | undefined } = {},
): ProcessWatch {
  const watched = new Map<string, Entry>();
  const carefully = (look: (listener: ProcessListener, entry: Entry) => void, entry: Entry) => {
    try {
      look(listener, entry);
    } catch (error) {
      listener.onError(error);
    }
  };
  const files = watchFiles({
    pollMs,
    onWake(directory) {
      const entry = watched.get(directory);
      if (entry === undefined) return;
      listener.onChange(directory);
      carefully(lookAtFiles, entry);
    },
  });
  const liveness = setInterval(() => {
    for (const entry of watched.values()) carefully(lookAlive, entry);
  }, livenessMs);
  liveness.unref();
  return {
    add(process) {
      const { directory, ranMs } = process;
      const { runMs } = process.limits;
      const dueMs = runMs === null ? Infinity : performance.now() + Math.max(0, runMs - ranMs);
      const entry: Entry = { ...process, dueMs, timer: null, left: false };
      watched.set(directory, entry);
      files.add(directory, ['out', 'err', 'exit', proxyRecordName]);
      setTimer(listener, entry);
      // It may have died before anybody watched.
      setImmediate(() => {
        if (watched.get(directory) === entry) carefully(lookAlive, entry);
      });
    },
    remove(directory) {
      clearTimeout(watched.get(directory)?.timer ?? undefined);
      watched.delete(directory);
      files.remove(directory);
    },
    close() {
      clearInterval(liveness);
      files.close();
      for (const { timer } of watched.values()) clearTimeout(timer ?? undefined);
      watched.clear();
    },
  };
}

function lookAtFiles(listener: ProcessListener, entry: Entry): void {
  const { directory } = entry;
  const { outputBytes } = entry.limits;
  if (entry.left) return;
  if (exists(sessionFile(directory, 'exit'))) {
    entry.left = true;
    listener.onLeft(directory);
  } else if (outputBytes !== null && printedBytes(directory) > outputBytes) listener.onLimit(directory, 'outputBytes');
}

function lookAlive(listener: ProcessListener, { directory, identity }: Entry): void {
  if (identity === null || !isAlive(identity)) listener.onLeft(directory);
}

/** Reports when the time is over, by a monotonic clock. */
function setTimer(listener: ProcessListener, entry: Entry): void {
  const leftMs = entry.dueMs - performance.now();
  if (leftMs === Infinity) return;
  const onTime = () =>
    performance.now() < entry.dueMs ? setTimer(listener, entry) : listener.onLimit(entry.directory, 'runMs');
  entry.timer = setTimeout(onTime, Math.min(Math.max(0, leftMs), longestMs));
  entry.timer.unref();
}

function printedBytes(directory: string): number {
  const sizes = (['out', 'err'] as const).map(
    (name) => statSync(sessionFile(directory, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
