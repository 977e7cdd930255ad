import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { bridgeLimits } from './limit.ts';
import type { InnerLine } from './line-splitter.ts';
import { LineSplitter } from './line-splitter.ts';
import type { Member } from './process-tree.ts';
import { killMembers, treeOf } from './process-tree.ts';
import { within } from './wait.ts';

/** How the agent's process ended; `failure` when it could not even be started. */
export type Exit = { code: number | null; signal: NodeJS.Signals | null; failure: string | null };

/**
 * The agent's process. It has a process group of its own, so that a Ctrl-C for ours reaches it through its protocol. Its
 * stderr passes through; the last of it is kept for the case that it dies.
 */
export class AgentProcess {
  /** Settles when the process has ended and its output has been read. */
  readonly ended: Promise<Exit>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #name: string;
  #lastWords = Buffer.alloc(0);
  #gone = false;

  constructor([program, ...words]: [string, ...string[]], onLine: (line: InnerLine) => void | Promise<void>) {
    this.#name = program;
    const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    this.#child = child;
    // The exit tells; a write to an agent that is gone is no further news.
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

  /** Sends one line. */
  send(message: object): void {
    if (!this.#child.stdin.destroyed) this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Everything that descends from the agent, itself included. */
  members(): Member[] {
    return this.#child.pid === undefined || this.#gone ? [] : treeOf(this.#child.pid);
  }

  /** Says in a sentence how it ended, with its last words. */
  describe({ code, signal, failure }: Exit): string {
    if (failure !== null) return `The agent ${this.#name} could not be started: ${failure}`;
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    const words = this.#lastWords.toString('utf8').trim();
    return `The agent ${this.#name} ended ${how}.${words === '' ? '' : `\n${words}`}`;
  }

  /** Ends its input, lets it leave by itself for a while, and leaves nothing of it or of what it started. */
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

/** Hands on one line at a time and reads no further until it is taken. */
async function readLines(stream: Readable, onLine: (line: InnerLine) => void | Promise<void>): Promise<void> {
  const splitter = new LineSplitter(bridgeLimits.lineBytes);
  try {
    for await (const chunk of stream) {
      for (const line of splitter.push(chunk as Buffer)) await onLine(line);
    }
    for (const line of splitter.end()) await onLine(line);
  } catch {
    // The pipe broke; the exit says what there is to say.
  }
}
