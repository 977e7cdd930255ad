import type { Client } from '@pawl/protocol/client';
import { homeClient } from '@pawl/protocol/node/home-client';
import { homeAt } from '@pawl/protocol/node/home';
import type { AgentView } from '@pawl/protocol/agents/view';
import type { OutputChunk } from '@pawl/protocol/sessions/view';
import type { Event } from '@pawl/schema/event';
import { startModelServer } from '@pawl/testing/model-server/server';
import type { ModelServer } from '@pawl/testing/model-server/server';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PersonsShell, RealCli } from './clis.ts';
import { scenarios } from './scenarios.ts';

const root = join(import.meta.dirname, '..', '..');

/** How long a turn may take: the slowest CLI needs ten seconds to start, and tries a minute and a half before it tells a limit. */
const turnMs = 400_000;

/** Secrets that must not be found anywhere but with the accounts. */
export const secrets = {
  first: 'sk-test-first-7Qm2VxLr9',
  limited: 'sk-test-limited-h4Zt8KcNw',
  second: 'sk-test-second-Jp5RyB3dE',
  long: 'sk-test-long-Vb6XkM4sP',
  early: 'sk-test-early-Kd9TzW2nQ',
};

/** A home, a project, a model server and a daemon of their own, with one CLI on the path. */
export type RealWorkshop = {
  cli: RealCli;
  server: ModelServer;
  home: string;
  repository: string;
  /** What the shell of a person here says: the CLI and the home. */
  shell: Record<string, string>;
  client(): Client;
  /** Runs the command line as a person would. */
  pawl(args: string[], input?: string): Promise<string>;
  work(task: string, options?: { account?: string; provider?: string }): Promise<AgentView>;
  ended(agentId: string): Promise<AgentView>;
  output(agentId: string): Promise<OutputChunk[]>;
  events(agentId: string): Promise<Event[]>;
  /** Kills the daemon with SIGKILL and starts another. */
  crashDaemon(): Promise<void>;
  close(): Promise<void>;
};

/** Opens a workshop for one CLI, whose program is in the cache: with accounts, or with nothing but a person's own shell. */
export async function openWorkshop(
  name: string,
  cli: RealCli,
  person: ((server: string) => PersonsShell) | null = null,
): Promise<RealWorkshop> {
  const place = await temporaryDirectory();
  const [home, repository, user] = [join(place.path, 'home'), join(place.path, 'sample'), join(place.path, 'user')];
  await Promise.all([sampleRepository(repository), mkdir(home, { mode: 0o700 }), mkdir(user)]);
  await writeFile(join(user, '.gitconfig'), '[user]\n\tname = Tester\n\temail = tester@localhost\n');
  const server = await startModelServer({ scenarios });
  await writeFile(join(home, 'config.yaml'), config(cli));
  const programs = join(root, '.cache', 'providers', `${name}-${cli.version}`, 'node_modules', '.bin');
  const own = person === null ? { environment: {}, files: {} } : person(server.url);
  for (const [path, content] of Object.entries(own.files)) {
    await mkdir(dirname(join(user, path)), { recursive: true });
    await writeFile(join(user, path), content);
  }
  const shell: Record<string, string> = {
    ...own.environment,
    PATH: [programs, dirname(process.execPath), process.env['PATH']].join(':'),
    HOME: user,
    PAWL_HOME: home,
    NODE_EXTRA_CA_CERTS: '',
  };
  const client = homeClient(homeAt(home));

  async function pawl(args: string[], input = ''): Promise<string> {
    return new Promise((resolve, reject) => {
      const child = execFile(
        process.execPath,
        [join(root, 'dist', 'pawl.mjs'), ...args],
        { env: { ...process.env, ...shell }, cwd: repository, maxBuffer: 64 * 1024 * 1024 },
        (error, stdout, stderr) => (error ? reject(new Error(`pawl ${args.join(' ')}: ${stderr}`)) : resolve(stdout)),
      );
      child.stdin?.end(input);
    });
  }

  const shop: RealWorkshop = {
    cli,
    server,
    home,
    repository,
    shell,
    client: () => client,
    pawl,
    async work(task, options = {}) {
      const provider = options.provider ?? cli.provider;
      const { environment } = cli;
      const body = { path: repository, task, provider, environment, account: options.account ?? `first-${provider}` };
      const model = cli.model === null ? {} : { model: cli.model };
      return (await client.work({ ...body, ...model }, randomUUID())).agent;
    },
    async ended(agentId) {
      const state = async () => (await client.inspectAgent(agentId)).agent;
      await waitUntil(async () => (await state()).run?.status !== 'running', {
        timeoutMs: turnMs,
        what: `the run of ${agentId} to end`,
      });
      return state();
    },
    output: async (agentId) => (await client.output(agentId, { format: 'events', limit: 1000 })).chunks,
    events: async (agentId) => (await client.events({ agent: agentId, limit: 1000 })).events,
    async crashDaemon() {
      const { pid } = await client.daemon();
      process.kill(pid, 'SIGKILL');
      await waitUntil(() => !existsSync(`/proc/${pid}`), { timeoutMs: turnMs, what: 'the daemon to be gone' });
      await pawl(['up']);
    },
    async close() {
      await client.stopAll().catch(() => undefined);
      await pawl(['down']);
      await server.close();
      await place[Symbol.asyncDispose]();
    },
  };
  await pawl(['up']);
  await pawl(['init', repository]);
  if (person !== null) return shop;
  for (const provider of new Set([cli.provider, cli.live ?? cli.provider])) {
    for (const [account, key] of Object.entries(secrets)) {
      const secret = account === 'long' && cli.tellsWithToken ? '--token-stdin' : '--key-stdin';
      const words = ['account', 'add', provider, '--name', `${account}-${provider}`, secret];
      await pawl([...words, '--base-url', cli.baseUrl(server.url)], `${key}\n`);
    }
  }
  await writeSettings(home, cli);
  return shop;
}

/** Puts a CLI's own settings into the directory of each account, as a person would. */
async function writeSettings(home: string, { settings }: RealCli): Promise<void> {
  for (const account of await readdir(join(home, 'accounts'))) {
    for (const [name, content] of Object.entries(settings))
      await writeFile(join(home, 'accounts', account, 'directory', name), content);
  }
}

function config({ provider, live }: RealCli): string {
  const names = [...new Set([provider, live ?? provider])];
  const probe = join(import.meta.dirname, 'mcp-server.mjs');
  // As is the default in a sandbox; without one, agents would ask, and CLIs that cannot ask would be refused.
  return `access: full
rotate_accounts: [${names.join(', ')}]
mcp_servers:
  probe:
    command: ${JSON.stringify(process.execPath)}
    args: [${JSON.stringify(probe)}]
`;
}
