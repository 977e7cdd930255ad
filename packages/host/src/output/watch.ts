import type { FSWatcher } from 'node:fs';
import { statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { limits } from '@pawl/schema/limit';
import { hostLimits } from '../host-limit.ts';

export type FileWatch = {
  /** Starts watching these files of a directory, which need not exist yet. */
  add(dir: string, names: readonly string[]): void;
  remove(dir: string): void;
  /** True if changes come as events, false if only the poll sees them. */
  hasEvents(dir: string): boolean;
  close(): void;
};

/** A file and its last stat, which changes whenever it is written, created, truncated or replaced. */
type Seen = { path: string; inode: number; size: number; modifiedMs: number };

type Watched = { files: Seen[]; watcher: FSWatcher | null };

/**
 * Calls `onWake` soon after a watched file changed. Wakes are merged and are advice only. File events make them fast;
 * the poll finds lost events, and replaces them if the system has none left.
 */
export function watchFiles(options: {
  onWake: (dir: string) => void;
  pollMs?: number;
  /** Starts file events for a directory; may throw. */
  watchDirectory?: (dir: string, onChange: () => void) => FSWatcher;
}): FileWatch {
  const { onWake, pollMs = limits.pollMs, watchDirectory = watchEvents } = options;
  const watched = new Map<string, Watched>();
  const woken = new Set<string>();
  let scheduled: NodeJS.Immediate | null = null;
  let quietTicks = 0;

  const deliver = () => {
    scheduled = null;
    const dirs = [...woken];
    woken.clear();
    for (const dir of dirs) if (watched.has(dir)) onWake(dir);
  };
  const wake = (dir: string) => {
    quietTicks = 0;
    woken.add(dir);
    scheduled ??= setImmediate(deliver);
  };
  const startEvents = (dir: string): FSWatcher | null => {
    try {
      const watcher = watchDirectory(dir, () => wake(dir));
      watcher.on('error', () => {
        watcher.close();
        const entry = watched.get(dir);
        if (entry?.watcher === watcher) entry.watcher = null;
      });
      return watcher;
    } catch {
      return null;
    }
  };
  const poll = () => {
    // Events get lost when very many come at once. While none come, polling now and then is enough.
    quietTicks++;
    if (quietTicks > hostLimits.busyTicks && quietTicks % hostLimits.quietPollTicks !== 0) return;
    for (const [dir, { files }] of watched) {
      for (const file of files) if (lookAgain(file)) wake(dir);
    }
  };
  const timer = setInterval(poll, pollMs);
  timer.unref();

  return {
    add(dir, names) {
      watched.get(dir)?.watcher?.close();
      // Start events before the first stat, so that no change falls in between.
      const watcher = startEvents(dir);
      const files = names.map((name) => ({ path: join(dir, name), inode: 0, size: 0, modifiedMs: 0 }));
      for (const file of files) lookAgain(file);
      watched.set(dir, { files, watcher });
      wake(dir);
    },
    remove(dir) {
      watched.get(dir)?.watcher?.close();
      watched.delete(dir);
    },
    hasEvents: (dir) => (watched.get(dir)?.watcher ?? null) !== null,
    close() {
      clearInterval(timer);
      if (scheduled !== null) clearImmediate(scheduled);
      for (const { watcher } of watched.values()) watcher?.close();
      watched.clear();
    },
  };
}

function watchEvents(dir: string, onChange: () => void): FSWatcher {
  return watch(dir, { persistent: false }, onChange);
}

/** Stats a file, and returns whether it changed. Hot path: allocates little. */
function lookAgain(file: Seen): boolean {
  let stat;
  try {
    stat = statSync(file.path, { throwIfNoEntry: false });
  } catch {
    // Any error counts as no file; it may be gone next time.
  }
  const inode = stat?.ino ?? 0;
  const size = stat?.size ?? 0;
  const modifiedMs = stat?.mtimeMs ?? 0;
  if (inode === file.inode && size === file.size && modifiedMs === file.modifiedMs) return false;
  Object.assign(file, { inode, size, modifiedMs });
  return true;
}
