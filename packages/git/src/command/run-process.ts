import type { ChildProcess, StdioOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

/** Time between SIGTERM and SIGKILL. */
const graceMs = 5_000;

export type ProcessRequest = {
  cwd: string;
  /** The complete environment; nothing is inherited. */
  env: Record<string, string | undefined>;
  /** Standard input: bytes, a file, or nothing. */
  input?: Uint8Array;
  inputFile?: string;
  encoding: 'utf8' | 'latin1';
  timeoutMs: number;
  /** A process that prints more than this on one output is ended. */
  maxBytes: number;
};

export type ProcessResult = {
  /** Absent if a signal ended it or it never started. */
  exitCode?: number;
  signal?: string;
  /** Why it could not start. */
  code?: string;
  cause?: unknown;
  stdout: string;
  stderr: string;
  timedOut: boolean;
  isMaxBuffer: boolean;
};

/** The beginning of an output, up to a limit. */
class Collected {
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds output; true if it exceeds the limit. */
  add(chunk: Buffer): boolean {
    const room = this.#maxBytes - this.#bytes;
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    this.#bytes += Math.min(chunk.length, room);
    return chunk.length > room;
  }

  /** Drops an incomplete character at the end. */
  text(encoding: BufferEncoding): string {
    return new StringDecoder(encoding).write(Buffer.concat(this.#chunks));
  }
}

/**
 * Runs one program to its end and always resolves. The daemon starts thousands of these, so it does only what git
 * commands need.
 */
export function runProcess(file: string, args: readonly string[], request: ProcessRequest): Promise<ProcessResult> {
  const outcome = { timedOut: false, isMaxBuffer: false };
  const [stdout, stderr] = [new Collected(request.maxBytes), new Collected(request.maxBytes)];
  const texts = () => ({ stdout: stdout.text(request.encoding), stderr: stderr.text(request.encoding) });
  let child: ChildProcess;
  try {
    child = startWith(file, args, request);
  } catch (error) {
    return Promise.resolve({ ...texts(), ...outcome, ...failureOf(error) });
  }
  return new Promise((resolve) => {
    let failure: Pick<ProcessResult, 'code' | 'cause'> = {};
    let killing: NodeJS.Timeout | undefined;
    const end = () => {
      child.kill();
      killing ??= setTimeout(() => child.kill('SIGKILL'), graceMs);
      // Do not wait for its own children, which may keep its outputs open.
      if (child.exitCode !== null || child.signalCode !== null) dropOutputs(child);
      else child.once('exit', () => dropOutputs(child));
    };
    const timeout = setTimeout(() => {
      outcome.timedOut = true;
      end();
    }, request.timeoutMs);
    const take = (collected: Collected) => (chunk: Buffer) => {
      if (outcome.isMaxBuffer || !collected.add(chunk)) return;
      outcome.isMaxBuffer = true;
      end();
    };
    child.stdout?.on('data', take(stdout));
    child.stderr?.on('data', take(stderr));
    child.once('error', (error) => {
      failure = failureOf(error);
    });
    child.once('close', (exitCode, signal) => {
      clearTimeout(timeout);
      clearTimeout(killing);
      // A process that never started has a negative exit code.
      const ended = exitCode === null || failure.code !== undefined ? {} : { exitCode };
      resolve({ ...texts(), ...outcome, ...failure, ...ended, ...(signal === null ? {} : { signal }) });
    });
    if (request.input !== undefined) {
      // It may exit without reading everything.
      child.stdin?.on('error', () => {});
      child.stdin?.end(request.input);
    }
  });
}

function startWith(file: string, args: readonly string[], request: ProcessRequest): ChildProcess {
  const { cwd, env, input, inputFile } = request;
  const source = inputFile === undefined ? null : openSync(inputFile, 'r');
  const stdio: StdioOptions = [source ?? (input === undefined ? 'ignore' : 'pipe'), 'pipe', 'pipe'];
  try {
    return spawn(file, args, { cwd, env, stdio });
  } finally {
    if (source !== null) closeSync(source);
  }
}

function dropOutputs(child: ChildProcess): void {
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function failureOf(error: unknown): { code: string; cause: unknown } {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
  return { code, cause: error };
}
