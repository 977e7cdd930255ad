import { hasErrno, messageOf } from '@pawl/schema/error';
import { idSchema } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import { mailsByIds } from '@pawl/store/mail/mail';
import type { Database } from '@pawl/store/tables';
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
  const names = createOwnNames(store.db);
  /** Paths of files that were handled, until they change or the next sweep. */
  const settled = new Set<string>();
  const scans = createBursts(burstMs, scanAll);
  const watches = createWatches((directory, name) => {
    if (name !== null) settled.delete(join(directory, name));
    if (name === null || !isMailbox(home, directory) || isCandidate(directory, name)) scans.ask(directory);
  });

  async function scanAll(directories: readonly string[]): Promise<void> {
    for (const directory of directories) {
      try {
        if (!scans.isClosed()) await scanDirectory(directory);
      } catch (error) {
        platform.log.warn({ directory, error: messageOf(error) }, 'failed to scan a mailbox directory');
      }
    }
  }

  /** The root and the projects contain directories, a mailbox contains files. */
  async function scanDirectory(directory: string): Promise<void> {
    if (!(await isDirectory(directory))) {
      watches.end(directory);
      return;
    }
    if (!scans.isClosed()) watches.begin(directory);
    const entries = await readdir(directory, { withFileTypes: true });
    if (!isMailbox(home, directory)) {
      for (const entry of entries)
        if (entry.isDirectory() && !entry.name.startsWith('.')) await scanDirectory(join(directory, entry.name));
      return;
    }
    const foreign = await names.foreign(entries.map(({ name }) => name).filter((name) => isCandidate(directory, name)));
    for (const name of foreign.slice(0, limits.mailFilesPerTick)) {
      if (scans.isClosed()) return;
      if ((await takeFile(platform, join(directory, name))) === 'later') scans.ask(directory);
      else settled.add(join(directory, name));
    }
    if (foreign.length > limits.mailFilesPerTick) scans.ask(directory);
  }

  function isCandidate(directory: string, name: string): boolean {
    if (!name.endsWith('.json') || name.startsWith('.') || names.has(name)) return false;
    return !settled.has(join(directory, name));
  }

  const sweep = async () => {
    settled.clear();
    await scans.runNow(home.messages);
  };
  const floor = setInterval(() => void sweep(), platform.timing.routeMs);
  floor.unref();
  void mkdir(home.messages, { mode: 0o700 }).then(sweep, sweep);

  return {
    sweep,
    isOurs: names.add,
    async close() {
      clearInterval(floor);
      const ended = scans.close();
      watches.endAll();
      await ended;
    },
  };
}

type Bursts = {
  /** Handles a key together with the others that come soon. */
  ask(key: string): void;
  /** Handles a key at once, with all that wait. */
  runNow(key: string): Promise<void>;
  /** Resolves when nothing is handled any more. */
  close(): Promise<void>;
  isClosed(): boolean;
};

/** Collects keys for a moment, and handles them one batch after the other. */
function createBursts(waitMs: number, handle: (keys: readonly string[]) => Promise<void>): Bursts {
  const asked = new Set<string>();
  let working: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;
  let closed = false;
  const begin = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    working = working.then(() => {
      const keys = [...asked];
      asked.clear();
      return handle(keys);
    });
    return working;
  };
  return {
    ask(key) {
      if (closed) return;
      asked.add(key);
      timer ??= setTimeout(begin, waitMs).unref();
    },
    runNow(key) {
      asked.add(key);
      return begin();
    },
    async close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      await working;
    },
    isClosed: () => closed,
  };
}

function isMailbox(home: SessionPlatform['home'], directory: string): boolean {
  return relative(home.messages, directory).split('/').length === 2;
}

type OwnNames = {
  has(name: string): boolean;
  add(name: string): void;
  /** The names that do not mirror mails. */
  foreign(names: readonly string[]): Promise<string[]>;
};

/** Names of files that mirror mails. Mail ids are unique across directories. */
function createOwnNames(db: Database): OwnNames {
  const ours = new Set<string>();
  const add = (name: string) => {
    // A dropped entry is looked up again.
    if (ours.size >= limits.pendingMail) ours.clear();
    ours.add(name);
  };
  return {
    has: (name) => ours.has(name),
    add,
    async foreign(names) {
      const foreign: string[] = [];
      for (let from = 0; from < names.length; from += limits.mailFilesPerTick) {
        const batch = names.slice(from, from + limits.mailFilesPerTick);
        const ids = batch.map((name) => name.slice(0, -'.json'.length)).filter((id) => idSchema.safeParse(id).success);
        for (const { id } of await mailsByIds(db, ids)) add(`${id}.json`);
        foreign.push(...batch.filter((name) => !ours.has(name)));
      }
      return foreign;
    },
  };
}

type Watches = { begin(directory: string): void; end(directory: string): void; endAll(): void };

/** Watches directories, as many as the system and our limit allow; the sweep finds the files of the others. */
function createWatches(onChange: (directory: string, name: string | null) => void): Watches {
  const watches = new Map<string, FSWatcher>();
  const end = (directory: string) => {
    watches.get(directory)?.close();
    watches.delete(directory);
  };
  return {
    begin(directory) {
      if (watches.has(directory) || watches.size >= limits.mailboxWatches) return;
      try {
        const watcher = watch(directory, { persistent: false }, (_event, name) => onChange(directory, name));
        watcher.on('error', () => end(directory));
        watches.set(directory, watcher);
      } catch (error) {
        // The system may be out of watches.
        if (!hasErrno(error, 'ENOSPC', 'EMFILE', 'ENOENT')) throw error;
      }
    },
    end,
    endAll() {
      for (const directory of watches.keys()) end(directory);
    },
  };
}
