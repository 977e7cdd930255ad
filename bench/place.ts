import type { Client } from '@pawl/protocol/client';
import { homeClient } from '@pawl/protocol/node/home-client';
import type { Home } from '@pawl/protocol/node/home';
import { homeAt } from '@pawl/protocol/node/home';
import type { AgentView } from '@pawl/protocol/agents/view';
import { strayProcesses } from '@pawl/host/session/stray';
import { hasErrno } from '@pawl/schema/error';
import { switchSandboxOff } from '@pawl/testing/home-database';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { programPaths } from './program.ts';
import { within } from './time-limit.ts';

/** A daemon of the built bundle, in its own process. */
export type DaemonProcess = { pid: number; kill(signal: NodeJS.Signals): Promise<void> };

/** A home, a repository and a daemon for one measure. */
export type Place = {
  path: string;
  home: Home;
  client: Client;
  repository: string;
  /** Creates a repository with this many files and registers it; the daemon must run. */
  addRepository(files: number): Promise<void>;
  /** Starts a daemon, with this configuration instead of one without a sandbox. */
  startDaemon(config?: string): Promise<DaemonProcess>;
  /** Writes a scenario for the scripted agent and returns its path. */
  scenario(steps: unknown[]): Promise<string>;
  /** Starts an agent that plays a scenario. */
  work(scenario: string): Promise<AgentView>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Ends the places that a failed or timed-out measure left open. */
export async function closePlaces(): Promise<void> {
  await Promise.all([...openPlaces].map((close) => close()));
}

const openPlaces = new Set<() => Promise<void>>();

/** How long a place waits for its agents to stop before it kills their processes. */
const stopMs = 60_000;

/** Creates an empty place. At its end all agents are stopped, the daemon has exited, and its files are gone. */
export async function makePlace(): Promise<Place> {
  const directory = await temporaryDirectory('pawl-bench');
  const home = homeAt(join(directory.path, 'home'));
  const client = homeClient(home);
  const repository = join(directory.path, 'sample');
  let running: DaemonProcess | null = null;
  let closing: Promise<void> | null = null;
  const close = () => (closing ??= end());
  async function end(): Promise<void> {
    if (running !== null) {
      await within(stopMs, () => 'its agents did not stop', stopAgents(client)).catch(() => undefined);
      await running.kill('SIGTERM');
      // An abandoned measure may have started more agents meanwhile.
      endSessions(home);
    }
    await directory[Symbol.asyncDispose]();
    openPlaces.delete(close);
  }
  openPlaces.add(close);
  return {
    path: directory.path,
    home,
    client,
    repository,
    async addRepository(files) {
      await sampleRepository(repository, { files: sampleFiles(files) });
      await client.addProject({ path: repository });
    },
    async startDaemon(config) {
      await mkdir(home.root, { recursive: true, mode: 0o700 });
      // The measure `sandbox` has what a sandbox adds.
      if (config === undefined) await switchSandboxOff(home.root);
      else await writeFile(join(home.root, 'config.yaml'), config);
      running = await launch(home, () => (running = null));
      return running;
    },
    async scenario(steps) {
      const path = join(directory.path, `${randomUUID()}.json`);
      await writeFile(path, JSON.stringify({ steps }));
      return path;
    },
    async work(scenario) {
      const body = { path: repository, task: 'a task', provider: 'scripted', options: { scenario } };
      return (await client.work(body, randomUUID())).agent;
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Stops every working agent, some at a time. */
async function stopAgents(client: Client): Promise<void> {
  const { agents } = await client.listAgents({ limit: 1_000 });
  const working = agents.filter((agent) => agent.run?.status === 'running').map((agent) => agent.id);
  const stopNext = async (): Promise<void> => {
    for (let id = working.pop(); id !== undefined; id = working.pop()) await client.stopAgent(id);
  };
  await Promise.all([stopNext(), stopNext(), stopNext(), stopNext()]);
}

/** Kills the processes of every session in a home, by their environment marker. */
function endSessions(home: Home): void {
  for (const session of existsSync(home.sessions) ? readdirSync(home.sessions) : [])
    for (const { pid } of strayProcesses(session)) endProcess(pid);
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!hasErrno(error, 'ESRCH')) throw error;
  }
}

async function launch(home: Home, onExit: () => void): Promise<DaemonProcess> {
  const child = spawn(process.execPath, [...programPaths.daemon, '--report-fd', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    env: { ...process.env, PAWL_HOME: home.root },
  });
  // A failed or interrupted bench leaves no daemon behind.
  const end = () => void child.kill('SIGKILL');
  process.on('exit', end);
  const exited = once(child, 'exit').finally(() => {
    process.off('exit', end);
    onExit();
  });
  const [report] = await Promise.all([readReport(child), Promise.race([once(child, 'spawn'), exited])]);
  if (!report.includes('"ready":true')) throw new Error(`the daemon did not come up: ${report}`);
  return {
    pid: child.pid ?? 0,
    async kill(signal) {
      child.kill(signal);
      await exited;
    },
  };
}

async function readReport(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const part of child.stdio[3] as NodeJS.ReadableStream) text += String(part);
  return text;
}

/** Small text files in folders of a hundred, like a program's sources. */
function sampleFiles(count: number): Record<string, string> {
  const files: Record<string, string> = {};
  for (let number = 0; number < count; number++) {
    const folder = `folder-${Math.floor(number / 100)}`;
    files[`${folder}/file-${number}.txt`] = `This is file ${number}.\n`.repeat(60);
  }
  return files;
}
