import type { ChildProcessByStdio } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { waitUntil } from '@pawl/testing/wait-until';

/** The bridge as it is shipped, which starts faster than from source. */
const bin = join(import.meta.dirname, '..', '..', '..', '..', 'dist', 'bridge.mjs');

export type Line = Record<string, unknown> & { type: string };

/** The command of a fake agent of this folder. */
export function fake(name: string, ...words: string[]): string[] {
  return ['--', process.execPath, join(import.meta.dirname, `${name}.ts`), ...words];
}

/** A bridge that runs, with what it has said. Disposing of it ends it. */
export class RunningBridge implements AsyncDisposable {
  readonly lines: Line[] = [];
  stderr = '';
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly exit: Promise<number | NodeJS.Signals | null>;

  constructor(words: string[], directory = process.cwd()) {
    const child = spawn(process.execPath, [bin, ...words], { cwd: directory, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) this.lines.push(JSON.parse(part) as Line);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    child.stdin.on('error', () => {});
    this.exit = new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)));
  }

  say(text: string, more: object = {}): void {
    this.write({ type: 'user', message: { role: 'user', content: text }, ...more });
  }

  interrupt(): void {
    this.write({ type: 'control_request', request_id: 'r1', request: { subtype: 'interrupt' } });
  }

  write(message: object): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  end(): Promise<number | NodeJS.Signals | null> {
    this.#child.stdin.end();
    return this.exit;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  ofType(type: string): Line[] {
    return this.lines.filter((line) => line.type === type);
  }

  /** The texts of the inputs that were echoed as handed over. */
  get echoes(): unknown[] {
    return this.ofType('user')
      .filter((line) => line['isReplay'] === true)
      .map((line) => (line['message'] as { content: unknown }).content);
  }

  /** The content blocks that the agent said or was told by its tools, in order. */
  get blocks(): Record<string, unknown>[] {
    return this.lines
      .filter((line) => line.type === 'assistant' || (line.type === 'user' && line['isReplay'] !== true))
      .flatMap((line) => (line['message'] as { content: Record<string, unknown>[] }).content);
  }

  /** The kinds of the stream's events, in order. */
  get streamed(): string[] {
    return this.ofType('stream_event').map((line) => (line['event'] as { type: string }).type);
  }

  /** Waits until so many turns have ended, and gives the last result. */
  async results(count: number): Promise<Line> {
    await waitUntil(() => this.ofType('result').length >= count, { what: `${count} results: ${this.stderr}` });
    return this.ofType('result')[count - 1] as Line;
  }

  async until(what: string, condition: (line: Line) => boolean): Promise<Line> {
    return waitUntil(() => this.lines.find(condition), { what });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGTERM');
    await this.exit;
  }
}

/** True while a process of this number runs; one that has ended and waits for its parent does not. */
export function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
}
