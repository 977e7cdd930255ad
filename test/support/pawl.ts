import { giveDatabase, switchSandboxOff } from '@pawl/testing/home-database';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const bin = join(import.meta.dirname, '..', '..', 'dist', 'pawl.mjs');

export type Outcome = { code: number | null; stdout: string; stderr: string };

/** A home of its own and the command line as a person has it. Its daemon is stopped and its files removed at the end. */
export type Workplace = {
  path: string;
  home: string;
  pawl(words: string[], options?: { cwd?: string; input?: string; env?: NodeJS.ProcessEnv }): Promise<Outcome>;
  /** Runs a command with --json and gives the data of its envelope. */
  json<T = Record<string, unknown>>(words: string[], options?: { cwd?: string; env?: NodeJS.ProcessEnv }): Promise<T>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Makes a workplace. */
export async function workplace(): Promise<Workplace> {
  const directory = await temporaryDirectory();
  const home = join(directory.path, 'home');
  mkdirSync(home, { mode: 0o700 });
  await giveDatabase(home);
  await switchSandboxOff(home);
  const pawl: Workplace['pawl'] = (words, options = {}) =>
    run(words, {
      cwd: directory.path,
      ...options,
      env: { ...process.env, NO_COLOR: '1', ...options.env, PAWL_HOME: home },
    });
  return {
    path: directory.path,
    home,
    pawl,
    async json<T>(words: string[], options?: { cwd?: string }) {
      const { code, stdout, stderr } = await pawl([...words, '--json'], options);
      if (code !== 0) throw new Error(`pawl ${words.join(' ')} exited with ${code}: ${stderr}`);
      const envelope = JSON.parse(stdout) as { pawl: number; kind: string; data: T };
      if (envelope.pawl !== 1) throw new Error(`an envelope of version ${envelope.pawl}`);
      return envelope.data;
    },
    async [Symbol.asyncDispose]() {
      const agents = await pawl(['ps', '--json']);
      if (agents.code === 0) {
        const { data } = JSON.parse(agents.stdout) as {
          data: { agents: { id: string; run: { status: string } | null }[] };
        };
        const working = data.agents.filter((agent) => agent.run?.status === 'running').map((agent) => agent.id);
        if (working.length > 0) await pawl(['stop', ...working]);
      }
      await pawl(['down']);
      await directory[Symbol.asyncDispose]();
    },
  };
}

function run(words: string[], options: { cwd: string; env: NodeJS.ProcessEnv; input?: string }): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(bin, words, { cwd: options.cwd, env: options.env, stdio: 'pipe' });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
  });
}
