import { writeSync } from 'node:fs';
import { hasErrno } from '@pawl/schema/error';

/** Exit code when the reader of stdout has gone, like SIGPIPE. */
export const readerGone = 141;

/**
 * Writes a line immediately, before the stream library behind `process.stdout` is loaded. False if the reader is gone.
 */
export function writeLineNow(line: object): boolean {
  let rest = Buffer.from(`${JSON.stringify(line)}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if (hasErrno(error, 'EPIPE')) return false;
      if (!hasErrno(error, 'EAGAIN')) throw error;
      // The pipe is non-blocking and full; the stream can wait for it.
      process.stdout.write(rest);
      return true;
    }
  }
  return true;
}

/** Logs to stderr. */
export function report(message: string): void {
  process.stderr.write(`scripted-agent: ${message}\n`);
}

/** Our stdout, written no faster than its reader reads. */
export class Output {
  /** Resolves when the reader has gone or writing fails. */
  readonly closed: Promise<Error>;
  readonly #stream = process.stdout;

  constructor() {
    this.closed = new Promise((resolve) => this.#stream.once('error', resolve));
    // A second error must not end the process with a stack trace while it exits.
    this.#stream.on('error', () => {});
  }

  /** Writes a value as one JSON line. */
  writeLine(line: object): Promise<void> {
    return this.write(`${JSON.stringify(line)}\n`);
  }

  /** Writes bytes or text, and resolves when more may be written. */
  write(data: string | Uint8Array): Promise<void> {
    if (this.#stream.write(data)) return Promise.resolve();
    return new Promise((resolve) => this.#stream.once('drain', resolve));
  }

  /** Resolves when everything written so far is flushed. */
  flush(): Promise<void> {
    return new Promise((resolve) => this.#stream.write('', () => resolve()));
  }
}
