import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseObject } from '@pawl/wire/json-line';
import { userTurnLine } from '@pawl/wire/claude-input';
import { waitUntil } from '@pawl/testing/wait-until';

/** The built one: from source it takes five times as long to start. */
const program = join(import.meta.dirname, '../../../../dist/pawl-engine.mjs');

export type Line = Record<string, unknown>;

export type EngineProcess = {
  pid: number;
  lines: Line[];
  stderr: string;
  say(text: string, uuid?: string): void;
  write(line: object): void;
  /** Closes stdin and waits for the exit code. */
  end(): Promise<number | null>;
  kill(signal: NodeJS.Signals): Promise<number | null>;
  /** The first line from an index that fits, once it is there. */
  line(fits: (line: Line) => boolean, what: string): Promise<Line>;
} & AsyncDisposable;

/** Starts the engine as its own process. */
export function startEngine(words: string[], given: { cwd: string; env: Record<string, string> }): EngineProcess {
  const child = spawn(process.execPath, [program, ...words], {
    cwd: given.cwd,
    env: { PATH: process.env['PATH'], HOME: given.cwd, ...given.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const exited = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  child.stdin.on('error', () => {});
  let rest = '';
  const engine: EngineProcess = {
    pid: child.pid ?? 0,
    lines: [],
    stderr: '',
    say: (text, uuid) => void child.stdin.write(userTurnLine(text, uuid)),
    write: (line) => void child.stdin.write(`${JSON.stringify(line)}\n`),
    end: () => {
      child.stdin.end();
      return exited;
    },
    kill: (signal) => {
      child.kill(signal);
      return exited;
    },
    line: (fits, what) => waitUntil(() => engine.lines.find(fits), { what: `${what}; stderr: ${engine.stderr}` }),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = `${rest}${text}`.split('\n');
    rest = parts.pop() ?? '';
    engine.lines.push(...parts.map((part) => parseObject(part) ?? { unreadable: part }));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (engine.stderr += text));
  return engine;
}
