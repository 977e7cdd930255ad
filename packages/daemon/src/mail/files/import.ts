import { hasErrno, messageOf } from '@pawl/schema/error';
import { idSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { mailsByIds } from '@pawl/store/mail/mail';
import type { FSWatcher } from 'node:fs';
import { watch } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { isDirectory } from './mailbox-directory.ts';
import { takeFile } from './take-file.ts';

/** Imports each file that other programs drop into mailbox directories, once. */
export type Import = {
  /** Scans all mailbox directories once. */
  sweep(): Promise<void>;
  /** Marks a file name as ours, so that it is not imported. */
  isOurs(name: string): void;
  close(): Promise<void>;
};

/** Files come in bursts; wait and handle them together. */
const burstMs = 100;

/** Watches the mailbox directories, with periodic sweeps as a fallback. */
export function startImport(platform: SessionPlatform): Import {
  const { home, store } = platform;
  const watches = new Map<string, FSWatcher>();
  /** Names of files that mirror mails. Mail ids are unique across directories. */
  const ours = new Set<string>();
  /** Paths of files that were handled, until they change or the next sweep. */
  const settled = new Set<string>();
  const asked = new Set<string>();
  let working: Promise<void> = Promise.resolve();
  let closed = false;
  let timer: NodeJS.Timeout | null = null;

  function ask(directory: string): void {
    if (closed) return;
    asked.add(directory);
    timer ??= setTimeout(begin, burstMs);
    timer.unref();
  }

  function begin(): void {
    timer = null;
    working = working.then(scanAll);
  }

  async function scanAll(): Promise<void> {
    const directories = [...asked];
    asked.clear();
    for (const directory of directories) {
      try {
        if (!closed) await scanDirectory(directory);
      } catch (error) {
        platform.log.warn({ directory, error: messageOf(error) }, 'failed to scan a mailbox directory');
      }
    }
  }

  /** The root and the projects contain directories, a mailbox contains files. */
  async function scanDirectory(directory: string): Promise<void> {
    if (!(await isDirectory(directory))) {
      unwatch(directory);
      return;
    }
    keepWatch(directory);
    const entries = await readdir(directory, { withFileTypes: true });
    if (!isMailbox(directory)) {
      for (const entry of entries)
        if (entry.isDirectory() && !entry.name.startsWith('.')) await scanDirectory(join(directory, entry.name));
      return;
    }
    const foreign = await foreignOf(entries.map(({ name }) => name).filter((name) => isCandidate(directory, name)));
    for (const name of foreign.slice(0, limits.mailFilesPerTick)) {
      if (closed) return;
      if ((await takeFile(platform, join(directory, name))) === 'later') ask(directory);
      else settled.add(join(directory, name));
    }
    if (foreign.length > limits.mailFilesPerTick) ask(directory);
  }

  function isMailbox(directory: string): boolean {
    return relative(home.messages, directory).split('/').length === 2;
  }

  function isCandidate(directory: string, name: string): boolean {
    if (!name.endsWith('.json') || name.startsWith('.') || ours.has(name)) return false;
    return !settled.has(join(directory, name));
  }

  /** The names that do not mirror mails. */
  async function foreignOf(names: readonly string[]): Promise<string[]> {
    const foreign: string[] = [];
    for (let from = 0; from < names.length; from += limits.mailFilesPerTick) {
      const batch = names.slice(from, from + limits.mailFilesPerTick);
      const ids = batch.map((name) => name.slice(0, -'.json'.length)).filter((id) => idSchema.safeParse(id).success);
      for (const { id } of await mailsByIds(store.db, ids)) isOurs(`${id}.json`);
      foreign.push(...batch.filter((name) => !ours.has(name)));
    }
    return foreign;
  }

  function isOurs(name: string): void {
    // A dropped entry is looked up again.
    if (ours.size >= limits.pendingMail) ours.clear();
    ours.add(name);
  }

  function keepWatch(directory: string): void {
    if (closed || watches.has(directory) || watches.size >= limits.mailboxWatches) return;
    try {
      const watcher = watch(directory, { persistent: false }, (_event, name) => {
        if (name !== null) settled.delete(join(directory, name));
        if (name === null || !isMailbox(directory) || isCandidate(directory, name)) ask(directory);
      });
      watcher.on('error', () => unwatch(directory));
      watches.set(directory, watcher);
    } catch (error) {
      // The system may be out of watches; the sweep still finds everything, later.
      if (!hasErrno(error, 'ENOSPC', 'EMFILE', 'ENOENT')) throw error;
    }
  }

  function unwatch(directory: string): void {
    watches.get(directory)?.close();
    watches.delete(directory);
  }

  const sweep = async () => {
    settled.clear();
    asked.add(home.messages);
    if (timer !== null) clearTimeout(timer);
    begin();
    await working;
  };
  const floor = setInterval(() => void sweep(), platform.timing.routeMs);
  floor.unref();
  working = mkdir(home.messages, { mode: 0o700 }).then(
    () => undefined,
    () => undefined,
  );
  void sweep();

  return {
    sweep,
    isOurs,
    async close() {
      closed = true;
      clearInterval(floor);
      if (timer !== null) clearTimeout(timer);
      for (const directory of watches.keys()) unwatch(directory);
      await working;
    },
  };
}
