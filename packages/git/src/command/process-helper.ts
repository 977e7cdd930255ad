import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { ProcessRequest, ProcessResult } from './run-process.ts';
import { runProcess } from './run-process.ts';

/** True in the published bundle, where all programs are files in one directory. */
declare const PAWL_BUNDLE: boolean | undefined;
const isBundled = typeof PAWL_BUNDLE !== 'undefined' && PAWL_BUNDLE;
/** From source, the built one is used: it starts in a fifth of the time. */
const program = join(import.meta.dirname, isBundled ? '.' : '../../../../dist', 'git-helper.mjs');

/** Defaults of a helper: when it starts, and when it leaves. */
type HelperTimes = {
  /** A process runs this many commands itself before it starts a helper: a daemon that soon exits needs none. */
  ownCommands: number;
  /** A helper without work leaves after this long, so that its memory is free again. */
  idleMs: number;
};
const usual: HelperTimes = { ownCommands: 15, idleMs: 5_000 };

export type HelperQuestion = { id: number; file: string; args: readonly string[]; request: ProcessRequest };
export type HelperAnswer = { id: number; result: ProcessResult };

/**
 * Runs commands through a small helper process. Starting a program copies the page tables of the process that starts it:
 * a daemon of 150 MB is blocked for milliseconds each time, a small process is not.
 */
export class ProcessHelper {
  readonly #times: HelperTimes;
  #commands = 0;
  #lastId = 0;
  #helper: ChildProcess | null = null;
  #idle: NodeJS.Timeout | undefined;
  readonly #waiting = new Map<number, (result: ProcessResult) => void>();

  constructor(times: Partial<HelperTimes> = {}) {
    this.#times = { ...usual, ...times };
  }

  /** The process that runs commands now, if there is one. */
  get pid(): number | undefined {
    return this.#helper?.pid;
  }

  /** Runs one program to its end and always resolves, as `runProcess` does. */
  run(file: string, args: readonly string[], request: ProcessRequest): Promise<ProcessResult> {
    this.#commands += 1;
    if (this.#commands <= this.#times.ownCommands) return runProcess(file, args, request);
    const helper = this.#start();
    return new Promise((resolve) => {
      this.#lastId += 1;
      const question: HelperQuestion = { id: this.#lastId, file, args, request };
      this.#waiting.set(question.id, resolve);
      clearTimeout(this.#idle);
      helper.ref();
      helper.channel?.ref();
      helper.send(question, (error) => error !== null && this.#lose(helper));
    });
  }

  #start(): ChildProcess {
    if (this.#helper !== null) return this.#helper;
    const helper = fork(program, [], {
      cwd: '/',
      env: {},
      execArgv: ['--max-semi-space-size=1'],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    helper.on('message', (answer: HelperAnswer) => this.#take(helper, answer));
    for (const event of ['error', 'disconnect', 'exit']) helper.once(event, () => this.#lose(helper));
    this.#helper = helper;
    return helper;
  }

  #take(helper: ChildProcess, { id, result }: HelperAnswer): void {
    this.#waiting.get(id)?.(result);
    this.#waiting.delete(id);
    if (this.#waiting.size > 0) return;
    // An idle helper does not keep the process running.
    helper.unref();
    helper.channel?.unref();
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#leave(helper), this.#times.idleMs).unref();
  }

  #leave(helper: ChildProcess): void {
    if (this.#helper === helper) this.#helper = null;
    if (helper.connected) helper.disconnect();
  }

  /** Its commands may or may not have run, as if they had been killed. The next command gets a new helper. */
  #lose(helper: ChildProcess): void {
    if (this.#helper !== helper) return;
    this.#leave(helper);
    const lost = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const resolve of lost) resolve({ ...unknown });
  }
}

const unknown: ProcessResult = { code: 'helper lost', stdout: '', stderr: '', timedOut: false, isMaxBuffer: false };
