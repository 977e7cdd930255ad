import { PawlError } from '@pawl/schema/error';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandContext } from '../context.ts';

/** How long a repeated command counts as the one whose answer was lost. */
const memoryMs = 10 * 60_000;

/**
 * Sends a request with an idempotency key. If the same command was sent a short while ago and its answer was lost, by
 * an unresponsive daemon or because the command was ended, reuses that key: the daemon does the work once and gives the
 * same answer.
 * A pending request has a file `requests/<hash of the command>.<key>.<pid>` in the home; its answer removes it.
 */
export async function askOnce<T>(
  context: Pick<CommandContext, 'home' | 'say' | 'colours'>,
  command: readonly unknown[],
  ask: (key: string) => Promise<T>,
): Promise<{ answer: T; repeats: boolean }> {
  const request = takeUp(context.home.requests, hashOf(command));
  if (request.repeats)
    context.say(context.colours.dim('continuing the same command from before, whose answer was lost'));
  try {
    const answer = await ask(request.key);
    request.forget();
    return { answer, repeats: request.repeats };
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    if (error.code !== 'timeout' && error.code !== 'daemon_unreachable') request.forget();
    else if (request.leave()) throw withHint(error);
    throw error;
  }
}

type Request = {
  key: string;
  repeats: boolean;
  /** It was answered. */
  forget(): void;
  /** Marks the answer as lost, so that the same command may resume it; false if the mark could not be written. */
  leave(): boolean;
};

/**
 * Resumes an earlier process's request for the same command, or starts one. Without a place for the file, every request
 * is new.
 */
function takeUp(directory: string, hash: string): Request {
  const key = crypto.randomUUID();
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(directory)) {
      const path = join(directory, name);
      const [of, known, pid] = name.split('.');
      if (isOld(path)) rmSync(path, { force: true });
      else if (of === hash && known !== undefined && !isAlive(Number(pid))) {
        const own = join(directory, `${hash}.${known}.${process.pid}`);
        // Of two commands that find it, one wins.
        if (isRenamed(path, own)) return { key: known, repeats: true, ...fileAt(own) };
      }
    }
    const own = join(directory, `${hash}.${key}.${process.pid}`);
    writeFileSync(own, '', { mode: 0o600 });
    return { key, repeats: false, ...fileAt(own) };
  } catch {
    return { key, repeats: false, forget() {}, leave: () => false };
  }
}

function fileAt(path: string): Pick<Request, 'forget' | 'leave'> {
  return {
    leave: () => isRenamed(path, path.replace(/\d+$/, '0')),
    forget() {
      try {
        rmSync(path, { force: true });
      } catch {
        // It expires by itself.
      }
    },
  };
}

function isRenamed(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

function isOld(path: string): boolean {
  const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return at === undefined || Math.abs(Date.now() - at) > memoryMs;
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Equal for the same command of the same person or agent. */
function hashOf(command: readonly unknown[]): string {
  const who = process.env['PAWL_AGENT_ID'] ?? '';
  return createHash('sha256')
    .update(JSON.stringify([who, ...command]))
    .digest('hex')
    .slice(0, 32);
}

function withHint({ code, message, hint, details, cause }: PawlError): PawlError {
  const again = 'The same command, typed again within 10 minutes, does nothing twice.';
  return new PawlError(code, message, { hint: hint === undefined ? again : `${hint} ${again}`, details, cause });
}
