import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { bridgeLimits } from './limit.ts';
import type { InnerLine } from './line-splitter.ts';
import { LineSplitter } from './line-splitter.ts';
import type { Member } from './process-tree.ts';
import { killMembers, treeOf } from './process-tree.ts';
import { within } from './wait.ts';

/** How the agent's process ended; `failure` if it could not start. */
export type Exit = { code: number | null; signal: NodeJS.Signals | null; failure: string | null };

/**
 * The agent's process. It has its own process group, so that a Ctrl-C to ours reaches it through its protocol. Passes
 * its stderr through and keeps the end, for the case that it dies.
 */
export class AgentProcess {
  /** Resolves when the process has ended and its output has been read. */
  readonly ended: Promise<Exit>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #name: string;
  #lastWords = Buffer.alloc(0);
  #gone = false;

  constructor([program, ...words]: [string, ...string[]], onLine: (line: InnerLine) => void | Promise<void>) {
    this.#name = program;
    const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    this.#child = child;
    // The exit tells; a failed write to an ended agent is not news.
    child.stdin.on('error', () => {});
    child.stderr.on('data', (chunk: Buffer) => {
      process.stderr.write(chunk);
      this.#lastWords = Buffer.concat([this.#lastWords, chunk]).subarray(-bridgeLimits.lastWordsBytes);
    });
    const exit = new Promise<Exit>((resolve) => {
      child.once('error', (error) => resolve({ code: null, signal: null, failure: error.message }));
      child.once('exit', (code, signal) => resolve({ code, signal, failure: null }));
    });
    const read = readLines(child.stdout, onLine);
    this.ended = exit.then(async (value) => {
      this.#gone = true;
      await within(read, bridgeLimits.drainMs);
      return value;
    });
  }

  send(message: object): void {
    if (!this.#child.stdin.destroyed) this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** The agent's process and all its descendants. */
  members(): Member[] {
    return this.#child.pid === undefined || this.#gone ? [] : treeOf(this.#child.pid);
  }

  /** Describes how it ended, with its last words. */
  describe({ code, signal, failure }: Exit): string {
    if (failure !== null) return `The agent ${this.#name} could not be started: ${failure}`;
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    const words = this.#lastWords.toString('utf8').trim();
    return `The agent ${this.#name} ended ${how}.${words === '' ? '' : `\n${words}`}`;
  }

  /** Closes its stdin, gives it time to exit, and kills the rest of it and its children. */
  async leave(patienceMs: number, known: Member[] = []): Promise<void> {
    const members = [...known, ...this.members()];
    this.#child.stdin.end();
    if ((await within(this.ended, patienceMs)) === null) {
      members.push(...this.members());
      if (!this.#gone) this.#child.kill('SIGTERM');
      await within(this.ended, bridgeLimits.politeMs / 2);
    }
    killMembers([...members, ...this.members()]);
    await within(this.ended, bridgeLimits.politeMs / 2);
  }
}

/** Passes on one line at a time and reads no further until it is handled. */
async function readLines(stream: Readable, onLine: (line: InnerLine) => void | Promise<void>): Promise<void> {
  const splitter = new LineSplitter(bridgeLimits.lineBytes);
  try {
    for await (const chunk of stream) {
      for (const line of splitter.push(chunk as Buffer)) await onLine(line);
    }
    for (const line of splitter.end()) await onLine(line);
  } catch {
    // The pipe broke; the exit explains it.
  }
}
