import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { engineLimits } from '../limit.ts';

export type CommandPlace = { cwd: string; env: Record<string, string | undefined>; outputFile: string };

export type CommandEnd = { code: number | null; signal: string | null; problem: string | null };

/**
 * A shell command in a process group of its own, with a closed stdin. Keeps the start and the end of its output in
 * memory, and all of it, up to a limit, in a file as soon as it is long.
 */
export class RunningCommand {
  readonly ended: Promise<CommandEnd>;
  readonly #child: ChildProcess;
  readonly #file: string;
  readonly #decoder = new StringDecoder('utf8');
  #descriptor: number | null = null;
  #fileBytes = 0;
  #text = '';
  /** Characters that were dropped from the front of `#text`. */
  #dropped = 0;
  #pollAt = 0;
  #end: CommandEnd | null = null;

  constructor(command: string, { cwd, env, outputFile }: CommandPlace) {
    this.#file = outputFile;
    this.#child = spawn('bash', ['-c', command], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => this.#take(chunk));
    }
    this.ended = this.#waitForEnd();
  }

  get end(): CommandEnd | null {
    return this.#end;
  }

  /** The whole output; its middle is replaced by a note if it is long. */
  output(): string {
    return this.#shown(0);
  }

  /** The output since the last poll. */
  poll(): string {
    const since = this.#pollAt;
    this.#pollAt = this.#dropped + this.#text.length;
    return this.#shown(since);
  }

  /** Ends the group: politely first, then by force. */
  async stop(): Promise<void> {
    if (this.#end !== null) return;
    this.#signal('SIGTERM');
    const force = setTimeout(() => this.#signal('SIGKILL'), engineLimits.graceMs);
    await this.ended;
    clearTimeout(force);
    // A child that ignored the first signal outlives its leader.
    this.#signal('SIGKILL');
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // The group has ended.
    }
  }

  #waitForEnd(): Promise<CommandEnd> {
    return new Promise((resolve) => {
      const settle = (end: CommandEnd) => {
        if (this.#end !== null) return;
        this.#end = end;
        if (this.#descriptor !== null) closeSync(this.#descriptor);
        this.#descriptor = null;
        this.#child.stdout?.destroy();
        this.#child.stderr?.destroy();
        resolve(end);
      };
      this.#child.on('error', (error) => settle({ code: null, signal: null, problem: error.message }));
      this.#child.on('close', (code, signal) => settle({ code, signal, problem: null }));
      this.#child.on('exit', (code, signal) => {
        // A child that stays behind may hold the pipes for ever.
        setTimeout(() => settle({ code, signal, problem: null }), engineLimits.pipeDrainMs);
      });
    });
  }

  #take(chunk: Buffer): void {
    if (this.#end !== null) return;
    this.#text += this.#decoder.write(chunk);
    if (this.#dropped > 0 || this.#text.length > engineLimits.outputCharacters) this.#spill(chunk);
    // Twice the limit, so that the text is not copied for each chunk.
    if (this.#text.length > 2 * engineLimits.outputCharacters) {
      const kept = this.#text.slice(-engineLimits.outputCharacters);
      this.#dropped += this.#text.length - kept.length;
      this.#text = kept;
    }
  }

  /** Writes output to the file; the first time, all that was read before. */
  #spill(chunk: Buffer): void {
    let bytes = chunk;
    if (this.#descriptor === null) {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      this.#descriptor = openSync(this.#file, 'wx', 0o600);
      bytes = Buffer.from(this.#text);
    }
    const part = bytes.subarray(0, Math.max(0, engineLimits.outputFileBytes - this.#fileBytes));
    this.#fileBytes += part.length;
    writeSync(this.#descriptor, part);
  }

  #shown(since: number): string {
    const text = this.#text.slice(Math.max(0, since - this.#dropped));
    const lost = Math.max(0, this.#dropped - since);
    const half = engineLimits.outputCharacters / 2;
    if (lost === 0 && text.length <= engineLimits.outputCharacters) return text;
    const whole = this.#fileBytes >= engineLimits.outputFileBytes ? 'its start is' : 'all of it is';
    const note = `[output cut; ${whole} in ${this.#file}]`;
    if (lost > 0) return `${note}\n${text.slice(-half)}`;
    return `${text.slice(0, half)}\n${note}\n${text.slice(-half)}`;
  }
}
