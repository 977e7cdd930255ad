import type { CrashPoint } from '@pawl/schema/crash-point';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { DaemonProcess } from './daemon-process.ts';
import { readyDaemon } from './daemon-process.ts';

/** One home with one project whose daemons are killed one after the other; each repairs what the last one left. */
export type CrashLife = {
  /** Where the test's own files go. */
  path: string;
  home: string;
  repository: string;
  /** The running daemon, started if there is none. */
  running(): Promise<DaemonProcess>;
  /** The running daemon, started if there is none. From now on it is killed at the point. */
  armed(point: CrashPoint): Promise<DaemonProcess>;
  /** Waits until that daemon was killed at its point, and starts the next one, which is not. */
  next(): Promise<DaemonProcess>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Starts such a home: some fifty crash points take one daemon each, not two. */
export async function crashLife(): Promise<CrashLife> {
  const place = await temporaryDirectory();
  const home = join(place.path, 'home');
  const repository = join(place.path, 'sample');
  const file = join(place.path, 'crash-at');
  await sampleRepository(repository);
  let daemon: DaemonProcess | null = null;
  const isRunning = () => daemon !== null && daemon.child.exitCode === null && daemon.child.signalCode === null;
  const start = async () => {
    rmSync(file, { force: true });
    daemon = await readyDaemon(home, { crashAtFile: file });
    return daemon;
  };
  const running = async () => (daemon !== null && isRunning() ? daemon : await start());
  const first = await start();
  await first.client.addProject({ path: repository });
  return {
    path: place.path,
    home,
    repository,
    running,
    async armed(point) {
      const found = await running();
      writeFileSync(file, point);
      return found;
    },
    async next() {
      expect((await daemon?.exited)?.signal).toBe('SIGKILL');
      return start();
    },
    async [Symbol.asyncDispose]() {
      rmSync(file, { force: true });
      if (isRunning()) await daemon?.kill('SIGTERM');
      await place[Symbol.asyncDispose]();
    },
  };
}
