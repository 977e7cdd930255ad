import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import { engineLimits } from '../limit.ts';
import type { ServerMessage, Transport } from './json-rpc.ts';
import { parseMessage, replyTo, resultOf } from './json-rpc.ts';

export type ServerProgram = {
  command: string;
  args: string[];
  env: Record<string, string | undefined>;
  cwd: string;
};

/** How much of a server's last words an error quotes. */
const lastWords = 500;

/** Talks to a program by lines on its stdin and stdout. It runs in a process group of its own, which ends with it. */
export class StdioTransport implements Transport {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #closed: Promise<void>;
  readonly #waiting = new Map<number, (message: ServerMessage | Error) => void>();
  #end: Error | null = null;
  #count = 0;
  #said = '';
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor({ command, args, env, cwd }: ServerProgram) {
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    child.stdin.on('error', () => {});
    child.stdout.on('data', (chunk: Buffer) => this.#take(chunk));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#said = `${this.#said}${text}`.slice(-lastWords);
    });
    child.on('error', (error) => this.#die(`It could not be started: ${error.message}`));
    child.on('exit', (code, signal) => {
      const how = signal === null ? `with code ${code}` : `by ${signal}`;
      this.#die(`It has ended ${how}${this.#said.trim() === '' ? '.' : `: ${this.#said.trim()}`}`);
    });
    this.#closed = new Promise((resolve) => child.on('close', () => resolve()));
  }

  get isDead(): boolean {
    return this.#end !== null;
  }

  notify(method: string, params: object): void {
    if (this.#end === null) this.#write({ method, params });
  }

  async request(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    if (this.#end !== null) throw this.#end;
    const id = ++this.#count;
    const answer = Promise.withResolvers<ServerMessage>();
    const cancel = () => {
      this.notify('notifications/cancelled', { requestId: id });
      answer.reject(signal.reason as Error);
    };
    this.#waiting.set(id, (message) => (message instanceof Error ? answer.reject(message) : answer.resolve(message)));
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    else this.#write({ id, method, params });
    try {
      return resultOf(await answer.promise);
    } finally {
      this.#waiting.delete(id);
      signal.removeEventListener('abort', cancel);
    }
  }

  async close(): Promise<void> {
    this.#die('It was closed.');
    this.#child.stdin.end();
    this.#signal('SIGTERM');
    const force = setTimeout(() => this.#signal('SIGKILL'), engineLimits.graceMs);
    if (this.#child.pid !== undefined) await this.#closed;
    clearTimeout(force);
    this.#signal('SIGKILL');
  }

  #write(message: object): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #die(why: string): void {
    if (this.#end !== null) return;
    this.#end = new Error(why);
    for (const settle of this.#waiting.values()) settle(this.#end);
    this.#waiting.clear();
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
    } catch {
      // The group has ended.
    }
  }

  #take(chunk: Buffer): void {
    let start = 0;
    for (let newline = chunk.indexOf(10); newline !== -1; newline = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...this.#parts, chunk.subarray(start, newline)]).toString('utf8');
      this.#parts = [];
      this.#bytes = 0;
      start = newline + 1;
      this.#takeLine(line);
    }
    this.#parts.push(chunk.subarray(start));
    this.#bytes += chunk.length - start;
    if (this.#bytes <= engineLimits.serverMessageBytes) return;
    this.#die(`It sent a line of more than ${engineLimits.serverMessageBytes} bytes.`);
    this.#signal('SIGKILL');
  }

  /** Takes a message in. A program may print other things, too. */
  #takeLine(line: string): void {
    const message = parseMessage(line);
    if (message === null || message.id === undefined || message.id === null) return;
    if (message.method !== undefined) this.#write(replyTo(message));
    else this.#waiting.get(Number(message.id))?.(message);
  }
}
