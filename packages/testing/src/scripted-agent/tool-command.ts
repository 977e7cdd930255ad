import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { messageOf } from '@pawl/schema/error';
import { scriptedLimits } from './limit.ts';
import { killTree } from './process-tree.ts';

export type ToolOutcome = { text: string; failed: boolean };

export type ToolCommand = { program: string; args: string[]; environment?: Record<string, string> };

/** Runs the commands of tool calls in the working directory, one at a time, and can end the one that runs. */
export class ToolCommands {
  readonly #directory: string;
  #running: ChildProcess | undefined;
  #stopped = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Runs a command to its end. After `stop` it never resolves, so that nothing is said about a command that was cut off. */
  async run(command: ToolCommand): Promise<ToolOutcome> {
    const outcome = await this.#start(command);
    this.#running = undefined;
    return this.#stopped ? new Promise(() => {}) : outcome;
  }

  #start({ program, args, environment }: ToolCommand): Promise<ToolOutcome> {
    try {
      const child = spawn(program, args, {
        cwd: this.#directory,
        env: { ...process.env, ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      this.#running = child;
      return settle(child, program);
    } catch (error) {
      // Some failures, such as arguments that are too long or hold a NUL, are thrown instead of told.
      return Promise.resolve(notStarted(program, messageOf(error)));
    }
  }

  /** Kills the running command with all its descendants. */
  stop(): void {
    this.#stopped = true;
    if (this.#running?.pid !== undefined) killTree(this.#running.pid);
  }
}

function settle(child: ChildProcess, program: string): Promise<ToolOutcome> {
  const output = collect(child);
  return new Promise((resolve) => {
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      if (child.pid !== undefined) killTree(child.pid);
    }, scriptedLimits.toolMs);
    child.on('error', (error) => {
      clearTimeout(timer);
      resolve(notStarted(program, error.message));
    });
    child.on('exit', () => {
      clearTimeout(timer);
      // A background child may hold the pipes open for ever; the command itself has ended.
      setTimeout(
        () => [child.stdout, child.stderr].forEach((pipe) => pipe?.destroy()),
        scriptedLimits.pipeDrainMs,
      ).unref();
    });
    child.on('close', (code, signal) => {
      const endings = [
        ...(timedOut ? [`The command took longer than ${scriptedLimits.toolMs} ms and was ended.`] : []),
        ...(code !== null && code !== 0 ? [`Exit code ${code}`] : []),
        ...(signal === null ? [] : [`Ended by ${signal}`]),
      ];
      resolve({ text: [output(), ...endings].filter((part) => part !== '').join('\n'), failed: endings.length > 0 });
    });
  });
}

function notStarted(program: string, reason: string): ToolOutcome {
  return { text: `${program} cannot be started: ${reason}`, failed: true };
}

/** Keeps the first part of what a command prints, both streams in the order of arrival, and counts the rest. */
function collect(child: ChildProcess): () => string {
  let text = '';
  let dropped = 0;
  for (const pipe of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder('utf8');
    pipe?.on('data', (chunk: Buffer) => {
      const more = decoder.write(chunk);
      const room = scriptedLimits.toolOutputCharacters - text.length;
      text += more.slice(0, room);
      dropped += Math.max(0, more.length - room);
    });
  }
  return () => (dropped === 0 ? text.trimEnd() : `${text}\n… ${dropped} more characters`);
}
