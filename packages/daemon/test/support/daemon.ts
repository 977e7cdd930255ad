import { startDaemon } from '@pawl/daemon/daemon';
import { openLog } from '@pawl/daemon/platform/log';
import type { Choices, Timing } from '@pawl/daemon/platform/platform';
import type { Client } from '@pawl/protocol/client';
import { sessionFile } from '@pawl/host/session/session-files';
import { homeClient } from '@pawl/protocol/node/home-client';
import { readJson } from '@pawl/protocol/answer';
import { socketTransport } from '@pawl/protocol/node/socket-transport';
import type { Home } from '@pawl/protocol/node/home';
import { homeAt } from '@pawl/protocol/node/home';
import type { ForkBody, WorkBody } from '@pawl/protocol/agents/verb-view';
import type { AgentView } from '@pawl/protocol/agents/view';
import type { Sandbox } from '@pawl/sandbox/probe';
import { lockDataDirectory, openDataDirectory } from '@pawl/store/directory/data-directory';
import { openRuns } from '@pawl/store/sessions/runs';
import type { Store } from '@pawl/store/store';
import { giveDatabase } from '@pawl/testing/home-database';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { markdown } from './definitions.ts';
import { unconfined } from './unconfined.ts';
import { shareStore, unshareStore } from './stores.ts';

/** A daemon in this process, with its own home and project. */
export type TestDaemon = {
  home: Home;
  port: number;
  client: Client;
  repository: string;
  /** Forks a worker that plays the given steps, and returns its view. */
  work(steps?: unknown[], body?: Partial<WorkBody>): Promise<AgentView>;
  /** Forks an agent as the person, and returns the child's view. */
  fork(reference: string, body?: ForkBody): Promise<AgentView>;
  /** An agent that has said something, has completed, and would next say what it remembers. */
  rested(words?: string): Promise<AgentView>;
  /** Writes a scenario and returns its path. */
  scenario(steps: unknown[]): Promise<string>;
  /** Adds a definition to the project's repository. */
  define(name: string, fields: Record<string, unknown>, body?: string): void;
  /** The input of a session. */
  promptOf(directory: string): Promise<string>;
  /** One request as the person, which may be aborted. */
  request(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<unknown>;
  /** Waits until an agent's run has ended. */
  ended(agentId: string): Promise<AgentView>;
  /** Runs the daemon's periodic work at once. */
  loops: { health(): Promise<void>; nudges(): Promise<void> };
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

const quickTiming: Timing = {
  // On a busy machine an agent needs time to exit; tests of those that do not exit set these shorter.
  stopGraceMs: 60_000,
  hungAfterSignalMs: 60_000,
  hungAfterResultMs: 60_000,
  livenessMs: 100,
  limitGraceMs: 500,
  // The daily loops stay out of a test's way, unless it asks for them.
  routeMs: 60_000,
  healthMs: 60_000,
  nudgeMs: 60_000,
  nudgeGapMs: 120_000,
  // The fallback for a lost wake: well below the time that a test waits for a fact.
  queueMs: 20_000,
  queueWaitMs: 200,
  adoptionMs: 3_000,
};

/** Starts a daemon with a sample repository as its project. */
export async function startTestDaemon(
  options: {
    timing?: Partial<Timing>;
    choices?: Partial<Choices>;
    providers?: Record<string, unknown>;
    home?: string;
    clock?: () => number;
    monotonic?: () => number;
    /** The sandbox of its machine, instead of this one's. */
    sandbox?: Sandbox;
    /** Writes a log in the home, as a daemon in its own process does. */
    logged?: boolean;
  } = {},
): Promise<TestDaemon> {
  const place = await temporaryDirectory();
  const root = options.home ?? join(place.path, 'home');
  const repository = join(place.path, 'sample');
  await sampleRepository(repository);
  const directory = openDataDirectory(root);
  await giveDatabase(root);
  const lock = lockDataDirectory(directory);
  const logs = homeAt(root).logs;
  if (options.logged) mkdirSync(logs, { recursive: true });
  const masked = options.logged ? openLog(join(logs, 'daemon.log')) : null;
  const daemon = await startDaemon({
    directory,
    port: 0,
    log: masked?.log ?? pino({ enabled: false }),
    ...(masked === null ? {} : { maskLogWith: masked.maskWith }),
    timing: { ...quickTiming, ...options.timing },
    choices: { ...unconfined, provider: 'scripted', ...options.choices },
    providers: options.providers ?? {},
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.monotonic === undefined ? {} : { monotonic: options.monotonic }),
    ...(options.sandbox === undefined ? {} : { probeSandbox: async () => options.sandbox as Sandbox }),
    onStopRequested() {},
  });
  const home = homeAt(root);
  shareStore(home.root, daemon.store);
  const client = homeClient(home);
  await client.addProject({ path: repository });
  let stopped = false;
  const stop = async () => {
    if (stopped) return;
    stopped = true;
    // Not by a list of agents: that scans all processes of the machine.
    const runs = await openRuns(daemon.store.db);
    for (const agentId of new Set(runs.map((run) => run.agentId))) await client.stopAgent(agentId);
    unshareStore(home.root);
    await daemon.stop('test');
    lock.release();
  };
  const work: TestDaemon['work'] = async (steps, body = {}) => {
    const options = steps === undefined ? {} : { options: { scenario: await writeScenario(place.path, steps) } };
    const request = { path: repository, task: 'a task', provider: 'scripted', ...options, ...body };
    return (await client.work(request, randomUUID())).agent;
  };
  return {
    home,
    port: daemon.port,
    client,
    repository,
    work,
    fork: async (reference, body = {}) => (await client.fork(reference, body, randomUUID())).agent,
    async rested(words = 'hello there') {
      const agent = await work([{ say: words }, 'complete', 'recall', 'complete']);
      return runEnded(client, agent.id, () => runChanged(daemon.store));
    },
    scenario: (steps) => writeScenario(place.path, steps),
    define(name, fields, body) {
      mkdirSync(join(repository, '.pawl', 'agents'), { recursive: true });
      writeFileSync(join(repository, '.pawl', 'agents', `${name}.md`), markdown(fields, body));
    },
    promptOf: (directory) => readFile(sessionFile(directory, 'prompt'), 'utf8'),
    request: async (method, path, body, signal) =>
      readJson(await socketTransport(home)({ method, path, headers: {}, body: JSON.stringify(body), signal })),
    ended: (agentId) => runEnded(client, agentId, () => runChanged(daemon.store)),
    loops: daemon.loops,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await place[Symbol.asyncDispose]();
    },
  };
}

/** Writes a scenario file and returns its path. */
export async function writeScenario(directory: string, steps: unknown[]): Promise<string> {
  const path = join(directory, `${randomUUID()}.json`);
  await writeFile(path, JSON.stringify({ steps }));
  return path;
}

/** An agent's record. Reads no files, so it is cheap to poll. */
export async function viewOf(client: Client, reference: string): Promise<AgentView> {
  return (await client.inspectAgent(reference, { worktree: false })).agent;
}

/** Waits until an agent's latest run has an outcome. */
export async function runEnded(client: Client, agentId: string, changed?: () => Promise<void>): Promise<AgentView> {
  let agent: AgentView | undefined;
  await waitUntil(
    async () => {
      agent = await viewOf(client, agentId);
      return agent.run !== null && agent.run.status !== 'running';
    },
    { what: `the run of ${agentId} to end`, ...(changed === undefined ? {} : { changed }) },
  );
  return agent as AgentView;
}

/** Resolves with the next event of a run. */
function runChanged(store: Store): Promise<void> {
  return new Promise((resolve) => {
    const stop = store.onCommit(({ events }) => {
      if (!events.some(({ type }) => type.startsWith('run.'))) return;
      stop();
      resolve();
    });
  });
}
