import { mkdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '@pawl/schema/error';
import { proxyFileSchema } from '@pawl/schema/proxy';
import type { FileLock } from '@pawl/store/directory/file-lock';
import { holdFileLock } from '@pawl/store/directory/file-lock';
import { isDamage } from '@pawl/store/engine/sqlite-failure';
import { personProxy } from './egress/person-proxy.ts';
import { openGrants } from './grants.ts';
import { proxyFiles } from './proxy-files.ts';
import { proxyLimits } from './proxy-limit.ts';
import type { Served } from './serve.ts';
import { serveProxy } from './serve.ts';
import { openSessionRecords } from './session-record.ts';

export type RunOptions = { directory: string; socket: string; version: string; unusedMs: number };

/**
 * Serves a home until nothing needs it: no session has a grant, the directory is gone, or a signal asks it to leave.
 * Only one proxy of a home gets the lock; a second one leaves at once.
 */
export async function runProxy({ directory, socket, version, unusedMs }: RunOptions): Promise<void> {
  const files = proxyFiles(directory);
  mkdirSync(files.grants, { recursive: true, mode: 0o700 });
  const lock = lockOf(files.lock);
  if (lock === null) return;
  const log = (text: string) => process.stderr.write(`${new Date().toISOString()} ${process.pid} ${text}\n`);
  process.on('uncaughtException', (error) => {
    log(`crashed: ${messageOf(error)}`);
    process.exit(1);
  });
  const grants = openGrants(files.grants);
  const records = openSessionRecords();
  const served = await serveProxy({
    grants,
    records,
    socket,
    port: lastPort(files.served),
    log,
    personProxy: personProxy(process.env),
  });
  writeServed(files.served, { pid: process.pid, port: served.port, version });
  log(`serving on port ${served.port}, version ${version}`);
  let asked = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => (asked = true));
  process.on('SIGHUP', () => undefined);
  let neededMs = performance.now();
  const isNeeded = () => {
    const sessions = grants.list();
    if (sessions === null || asked || !served.isReachable()) return false;
    records.keepOnly(sessions);
    if (sessions.length > 0 || served.active() > 0) neededMs = performance.now();
    return performance.now() - neededMs < unusedMs;
  };
  // Reads the grants last: the daemon writes a grant before it looks for a proxy.
  while (isNeeded()) await delay(proxyLimits.lookMs);
  await leave(served, asked);
  log('leaving');
  lock.release();
}

/** The lock of a home's proxy; null if another one holds it. */
function lockOf(path: string): FileLock | null {
  try {
    return holdFileLock(path, proxyLimits.lockWaitMs);
  } catch (error) {
    if (!isDamage(error)) throw error;
    // Foreign content, so the lock is free. Emptied in place, so that two proxies lock the same file.
    truncateSync(path);
    return holdFileLock(path, proxyLimits.lockWaitMs);
  }
}

/** Stops serving. Asked to leave, it first lets open calls end. */
async function leave(served: Served, gently: boolean): Promise<void> {
  served.leave();
  const beganMs = performance.now();
  while (gently && served.active() > 0 && performance.now() - beganMs < proxyLimits.leaveMs) await delay(50);
  served.close();
}

function lastPort(path: string): number | null {
  try {
    return proxyFileSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).port;
  } catch {
    return null;
  }
}

function writeServed(path: string, content: object): void {
  writeFileSync(`${path}.new`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
