import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isolatedGitEnvironment, sampleRepository } from '../../src/sample-repository.ts';
import { temporaryDirectory } from '../../src/temporary.ts';
import { waitUntil } from '../../src/wait-until.ts';

/** The program as it runs without a build. */
export const source = fileURLToPath(new URL('../../src/scripted-agent/bin.ts', import.meta.url));

/** The program as it is shipped: bundled, and so much quicker to start that it serves most tests. */
const program = fileURLToPath(new URL('../../../../dist/scripted-agent.mjs', import.meta.url));

export type Line = Record<string, unknown> & { type: string; session_id: string };

/** A user turn as Claude Code takes it on stdin. */
export function userTurn(content: unknown, more: object = {}): string {
  return `${JSON.stringify({ type: 'user', message: { role: 'user', content }, ...more })}\n`;
}

/** A running scripted agent. Disposing of it ends the process, whatever state it is in. */
export class AgentProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly exited: Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  stderr = '';
  readonly #chunks: Buffer[] = [];

  constructor(program: string, args: string[], directory: string, environment: NodeJS.ProcessEnv) {
    this.child = spawn(process.execPath, [program, ...args], { cwd: directory, env: environment });
    this.exited = once(this.child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
    this.child.stdout.on('data', (chunk: Buffer) => this.#chunks.push(chunk));
    this.child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    // A process that has ended does not read the rest of its input.
    this.child.stdin.on('error', () => {});
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** The complete lines so far, each of which must be JSON. */
  get lines(): Line[] {
    const complete = this.bytes.toString().split('\n').slice(0, -1);
    return complete.map((line) => JSON.parse(line) as Line);
  }

  /** Everything the agent said. */
  get said(): string[] {
    return blocksOf(this.lines, 'assistant').flatMap((block) =>
      block['type'] === 'text' ? [String(block['text'])] : [],
    );
  }

  /** What was shown to have been taken in: its text, and its name where it has one. */
  get echoes(): unknown[][] {
    const echoed = this.lines.filter((line) => line['isReplay'] === true);
    return echoed.map((line) => [(line['message'] as { content: unknown }).content, line['uuid']]);
  }

  get toolResults(): { content: string; is_error: boolean }[] {
    return blocksOf(this.lines, 'user') as never;
  }

  get results(): Line[] {
    return this.lines.filter((line) => line.type === 'result');
  }

  /** Waits until so many user turns have been shown to be taken in. */
  async untilEchoed(count: number): Promise<void> {
    await waitUntil(() => this.echoes.length >= count, { what: `${count} echoes` });
  }

  /** Waits until the agent has said this. */
  async untilSaid(text: string): Promise<void> {
    await waitUntil(() => this.said.includes(text), { what: `the agent to say ${text}` });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }
}

/** The content blocks of all messages of one role. */
export function blocksOf(lines: Line[], type: 'assistant' | 'user'): Record<string, unknown>[] {
  return lines
    .filter((line) => line.type === type)
    .flatMap((line) => (line['message'] as { content: Record<string, unknown>[] }).content);
}

export type Stage = Awaited<ReturnType<typeof stage>>;

/** A repository to work in and a directory for conversations, both gone at the end. */
export async function stage() {
  const temporary = await temporaryDirectory('scripted-agent');
  const directory = join(temporary.path, 'repository');
  const state = join(temporary.path, 'state');
  const home = join(temporary.path, 'home');
  await mkdir(home);
  await sampleRepository(directory);
  const environment = {
    ...isolatedGitEnvironment(),
    HOME: home,
    PAWL_SCRIPTED_STATE: state,
  };
  const start = (args: string[] = [], extra: NodeJS.ProcessEnv = {}) =>
    new AgentProcess(program, args, directory, { ...environment, ...extra });

  /** Writes a scenario and returns its path. */
  const scenario = async (steps: unknown, name = 'scenario.json') => {
    const path = join(temporary.path, name);
    await writeFile(path, JSON.stringify({ steps }));
    return path;
  };

  /** Plays the steps to their end with one prompt. */
  const play = async (steps: unknown[], { prompt = 'Do it', args = [] as string[], env = {} } = {}) => {
    const agent = start(['--scenario', await scenario(steps), ...args], env);
    agent.child.stdin.end(prompt);
    const [code, signal] = await agent.exited;
    return Object.assign(agent, { code, signal });
  };

  return {
    path: temporary.path,
    directory,
    state,
    environment,
    program,
    start,
    scenario,
    play,
    [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose](),
  };
}
