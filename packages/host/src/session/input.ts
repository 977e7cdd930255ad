import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { hostLimits } from '../host-limit.ts';
import type { Host } from '../host.ts';
import { exists, sessionFile } from './session-files.ts';
import type { MonotonicClock } from '../wait.ts';
import { createPauses, monotonicClock } from '../wait.ts';

/** `freshLine`: earlier input may have ended in the middle of a line. */
type InputOptions = { timeoutMs?: number; now?: MonotonicClock; freshLine?: boolean };

/** When an input gives up, and whom it tells that a part of its line was written. */
type Deadline = { timeoutMs: number; isLate(): boolean; onTorn(): void };

function inputClosed(dir: string, cause?: unknown): PawlError {
  return new PawlError('conflict', 'The session takes no more input.', {
    hint: 'Its process has ended or its input was closed. Resume the agent to continue.',
    details: { dir },
    cause,
  });
}

function inputTimeout(dir: string, timeoutMs: number): PawlError {
  return new PawlError('timeout', `The process did not read its input within ${timeoutMs} ms.`, {
    hint: 'It is busy or stuck. Try again later, or stop the agent.',
    details: { dir },
  });
}

/** Opens a FIFO for writing without blocking; fails if there is no reader. */
function openFifo(dir: string, name: 'in' | 'ctl'): number {
  let descriptor;
  try {
    descriptor = openSync(sessionFile(dir, name), constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    if (hasErrno(error, 'ENXIO', 'ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR')) throw inputClosed(dir, error);
    throw error;
  }
  if (fstatSync(descriptor).isFIFO()) return descriptor;
  closeSync(descriptor);
  throw inputClosed(dir);
}

/** Writes as much as the pipe takes; 0 if it is full. */
function writeSome(dir: string, descriptor: number, bytes: Buffer): number {
  try {
    return writeSync(descriptor, bytes);
  } catch (error) {
    if (hasErrno(error, 'EAGAIN')) return 0;
    if (hasErrno(error, 'EPIPE')) throw inputClosed(dir, error);
    throw error;
  }
}

/** Writes all bytes, waiting for room until the deadline. */
async function writeAll(dir: string, bytes: Buffer, deadline: Deadline): Promise<void> {
  const descriptor = openFifo(dir, 'in');
  try {
    let written = 0;
    let pause = createPauses();
    while (written < bytes.length) {
      const count = writeSome(dir, descriptor, bytes.subarray(written));
      written += count;
      if (count > 0) pause = createPauses();
      if (written === bytes.length) break;
      if (deadline.isLate()) {
        if (written > 0) deadline.onTorn();
        throw inputTimeout(dir, deadline.timeoutMs);
      }
      if (count === 0) await pause();
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Waits until the shim has written the whole prompt, so that no line lands inside it. */
async function waitForPrompt(dir: string, deadline: Deadline): Promise<void> {
  const pause = createPauses();
  while (!exists(sessionFile(dir, 'fed'))) {
    closeSync(openFifo(dir, 'in'));
    if (deadline.isLate()) throw inputTimeout(dir, deadline.timeoutMs);
    await pause();
  }
}

/**
 * Writes one line to a session's stdin. Lines never interleave, and waiting for a full pipe blocks nothing else. A line
 * that timed out may have been read in part; the next one starts on a new line.
 */
export async function sendInput(
  host: Host,
  directory: string,
  text: string,
  options: InputOptions = {},
): Promise<void> {
  const dir = resolve(directory);
  const { timeoutMs = hostLimits.inputMs, now = monotonicClock, freshLine = false } = options;
  const bytes = Buffer.from(text.endsWith('\n') ? text : `${text}\n`);
  if (bytes.length > hostLimits.inputBytes) {
    throw new PawlError('too_large', `An input may have at most ${hostLimits.inputBytes} bytes.`, {
      hint: 'Put long text into a file, and name the file.',
    });
  }
  await host.inputs.run(dir, async () => {
    const startedMs = now();
    const deadline: Deadline = {
      timeoutMs,
      isLate: () => now() - startedMs >= timeoutMs,
      onTorn: () => host.tornInputs.add(dir),
    };
    if (exists(sessionFile(dir, 'closed'))) throw inputClosed(dir);
    await waitForPrompt(dir, deadline);
    const anew = host.tornInputs.has(dir) || freshLine;
    await writeAll(dir, anew ? Buffer.concat([Buffer.from('\n'), bytes]) : bytes, deadline);
    host.tornInputs.delete(dir);
  });
}

/** Closes the command's stdin after all earlier input. Idempotent, also after the process has ended. */
export async function closeInput(host: Host, directory: string): Promise<void> {
  const dir = resolve(directory);
  await host.inputs.run(dir, async () => {
    if (!exists(sessionFile(dir, 'ctl'))) throw inputClosed(dir);
    await writeFile(sessionFile(dir, 'closed'), '', { mode: 0o600 });
    host.tornInputs.delete(dir);
    let descriptor;
    try {
      descriptor = openFifo(dir, 'ctl');
    } catch (error) {
      // No reader: it is already closed.
      if (error instanceof PawlError) return;
      throw error;
    }
    try {
      writeSome(dir, descriptor, Buffer.from('close\n'));
    } finally {
      closeSync(descriptor);
    }
  });
}
