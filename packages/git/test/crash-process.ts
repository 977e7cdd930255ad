import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { CrashPoint } from '@pawl/schema/crash-point';
import { expect, onTestFinished } from 'vitest';

/** `crash-child.ts`, built by scripts/build-crash-daemon.mjs. */
const program = join(import.meta.dirname, '..', '..', '..', '.cache', 'crash-daemon', 'git-child.mjs');

/** Starts a process that does one operation and can be killed; it is gone when the test ends. */
export function startChild(request: object, environment: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [program, JSON.stringify(request)], {
    detached: true,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The group has left already.
    }
  });
  return child;
}

/** Lets an operation run until it is killed at a named point. */
export async function dieAt(point: CrashPoint, request: object): Promise<void> {
  const child = startChild(request, { PAWL_CRASH_AT: point });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
}

/** Kills an operation some time after it began, with or without the git commands that it had started. */
export async function killAfter(delayMs: number, withGit: boolean, request: object): Promise<void> {
  const child = startChild(request);
  await once(child.stdout, 'data');
  await delay(delayMs);
  try {
    process.kill(withGit ? -Number(child.pid) : Number(child.pid), 'SIGKILL');
  } catch {
    // It was quicker than that.
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
