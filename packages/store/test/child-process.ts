import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** `child/act.ts`, built by scripts/build-crash-daemon.mjs. */
const program = join(import.meta.dirname, '..', '..', '..', '.cache', 'crash-daemon', 'store-child.mjs');

/** Starts `child/act.ts`; stopped when the test ends. */
export function startChild(action: string, directory: string, environment: Record<string, string> = {}): ChildProcess {
  const child = fork(program, [action, directory], {
    execArgv: [],
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  onTestFinished(() => endChild(child));
  return child;
}

/** Kills a running child, and waits until it is gone. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Waits until a child has ended, and returns its signal. */
export async function signalOf(child: ChildProcess): Promise<NodeJS.Signals | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.signalCode;
}

export async function messageFrom(child: ChildProcess): Promise<unknown> {
  const [message] = (await once(child, 'message')) as [unknown];
  return message;
}

/** Sends a child a message and waits for its answer. */
export async function ask(child: ChildProcess, message: string): Promise<unknown> {
  const answer = messageFrom(child);
  child.send(message);
  return answer;
}
