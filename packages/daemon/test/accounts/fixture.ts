import type { AccountUse, ProviderPreset } from '@pawl/core/port/provider';
import type { Accounts } from '@pawl/daemon/accounts/accounts';
import { createAccounts } from '@pawl/daemon/accounts/accounts';
import type { AccountStep } from '@pawl/daemon/accounts/account-files';
import { homeAt } from '@pawl/protocol/node/home';
import type { Home } from '@pawl/protocol/node/home';
import { providerRegistry } from '@pawl/providers/registry';
import { newId } from '@pawl/schema/id';
import type { Account, Agent } from '@pawl/schema/record';
import { noBudget, noUsage } from '@pawl/schema/record';
import { accountById } from '@pawl/store/projects/accounts';
import { insertAgent } from '@pawl/store/agents/agents';
import { openDataDirectory } from '@pawl/store/directory/data-directory';
import { insertProject } from '@pawl/store/projects/projects';
import { openDatabase } from '@pawl/store/directory/recovery';
import { insertRun } from '@pawl/store/sessions/runs';
import { insertSession } from '@pawl/store/sessions/sessions';
import type { Store } from '@pawl/store/store';
import { giveDatabase } from '@pawl/testing/home-database';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';

export const key = 'sk-test-0123456789-ABCDEFGH-wxyz';
export const token = 'oat01-0123456789-ABCDEFGH-token';

/** A CLI that takes its credentials in every supported way. */
export const everyUse: AccountUse = {
  key: 'FAKE_API_KEY',
  token: 'FAKE_OAUTH_TOKEN',
  baseUrl: 'FAKE_BASE_URL',
  directory: 'CLAUDE_CONFIG_DIR',
  baseUrlArguments: [],
  files: {
    '.claude.json': '{"hasCompletedOnboarding":true}',
    'settings.json': '{"telemetry":false}',
    'nested/server.json': '{"url":"{baseUrl}","env":"{key}"}',
  },
  conversations: ['projects/*/{session}.jsonl', 'projects/*/{session}/**'],
  credentials: '.credentials.json',
};

/** A provider whose CLI is whatever command a test names. */
export function fakePreset(name = 'fake', fields: Partial<ProviderPreset> = {}): ProviderPreset {
  return {
    name,
    description: 'a stand-in',
    command: ['true'],
    process: { names: [], commandLine: null },
    env: {},
    rootEnv: {},
    version: null,
    install: null,
    variables: { settings: ['FAKE_BASE_URL'], secrets: ['FAKE_API_KEY', 'FAKE_OAUTH_TOKEN'] },
    account: everyUse,
    promptMode: 'stdin',
    echoes: true,
    promptArguments: [],
    systemPrompt: null,
    chooseSession: null,
    resume: null,
    fork: null,
    forkStyle: 'none',
    tools: null,
    access: { full: [], ask: null, readOnly: null },
    hook: null,
    mcp: null,
    model: null,
    options: {},
    outputFormat: 'claude-stream-json',
    patterns: { limit: [], transient: [], auth: [] },
    silence: { noticeMs: 1_000, hangMs: 10_000 },
    firstSignal: 'SIGTERM',
    repositorySettings: { paths: [], block: null },
    ...fields,
  };
}

export type AccountsFixture = {
  /** The directory of this test; the home is below it. */
  path: string;
  home: Home;
  store: Store;
  accounts: Accounts;
  preset: ProviderPreset;
  clock: { now: number };
  row(id: string): Promise<Account>;
  /** The types of the events so far. */
  events(): Promise<{ type: string; data: unknown }[]>;
};

/** Opens the accounts of a home on their own store. */
export async function openAccounts(
  options: { path?: string; presets?: ProviderPreset[]; atStep?: (step: AccountStep) => void } = {},
): Promise<AccountsFixture> {
  const path = options.path ?? (await testDirectory());
  const clock = { now: 1_700_000_000_000 };
  const directory = openDataDirectory(join(path, 'home'));
  await giveDatabase(directory.path);
  const store = await openDatabase(directory, { clock: () => clock.now });
  onTestFinished(() => store.close());
  const home = homeAt(directory.path);
  const presets = options.presets ?? [fakePreset()];
  mkdirSync(join(path, 'person'), { recursive: true });
  const accounts = createAccounts(
    {
      home,
      store,
      providers: providerRegistry(presets),
      environment: { PATH: process.env['PATH'], HOME: join(path, 'person') },
      clock: () => clock.now,
      log: pino({ enabled: false }),
    },
    options.atStep,
  );
  await accounts.settle();
  return {
    path,
    home,
    store,
    accounts,
    clock,
    preset: presets[0] as ProviderPreset,
    async row(id) {
      const account = await accountById(store.db, id);
      expect(account).not.toBeNull();
      return account as Account;
    },
    async events() {
      const rows = await store.db.selectFrom('events').select(['type', 'data']).orderBy('seq').execute();
      return rows.map(({ type, data }) => ({ type, data: JSON.parse(data) as unknown }));
    },
  };
}

/** A directory that is removed when the test ends. */
export async function testDirectory(): Promise<string> {
  const directory = await temporaryDirectory('pawl-accounts');
  onTestFinished(() => directory[Symbol.asyncDispose]());
  return directory.path;
}

/** Writes files below a directory. */
export function writeFiles(directory: string, files: Record<string, string>): string {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  return directory;
}

const nothing = { endedAt: null, endReason: null, startedAt: null, pid: null, providerSessionId: null } as const;

/** Records an agent whose session uses an account now; returns the session's id. */
export async function openSession(store: Store, accountId: string): Promise<string> {
  const [projectId, agentId, runId, id] = [newId(), newId(), newId(), newId()];
  const identity = { alias: 'brave-otter', parentId: null, supervisorId: null, forkMessageId: 0, createdAt: 1 };
  const kind = { definition: 'worker', kind: 'main', class: 'ephemeral', mode: 'execute', provider: 'fake' } as const;
  const past = { forkedConversation: null, snapshot: null, freshAfter: 0, stopRequestedAt: null, reapedAt: null };
  const choices = {
    model: null,
    options: {},
    environment: {},
    budget: noBudget,
    access: 'full' as const,
    accessNeeds: null,
    keyProxy: null,
    taskId: null,
  };
  const place = {
    branch: null,
    baseCommit: null,
    worktree: null,
    workdir: null,
    worktreeReadyAt: null,
    worktreeEnd: null,
  };
  const end = { completion: null, adopted: null, stuckAt: null, stuckReason: null, endedAt: null, endReason: null };
  const agent: Agent = {
    id: agentId,
    projectId,
    accountId,
    assignment: null,
    ...identity,
    ...kind,
    ...past,
    ...choices,
    ...place,
    ...end,
  };
  await store.write(async (tx) => {
    await insertProject(tx, { id: projectId, name: 'shop', root: '/shop', createdAt: 1 });
    await insertAgent(tx, agent);
    const run = {
      id: runId,
      projectId,
      agentId,
      agentKind: 'main' as const,
      parentRunId: null,
      task: '',
      definition: null,
    };
    const open = { outcome: null, detail: null, questions: null, resultBefore: null, waitUntil: null, waitFor: null };
    await insertRun(tx, {
      ...run,
      ...open,
      startedAt: 1,
      endedAt: null,
      cause: null,
      repoPath: null,
      sessionId: 'default',
    });
    const session = { id, agentId, runId, no: 1, purpose: 'work' as const, conversation: 'new' as const, accountId };
    const facts = {
      processStart: null,
      sandbox: null,
      pausedAt: null,
      interruptedAt: null,
      exitCode: null,
      reported: null,
      result: null,
    };
    await insertSession(tx, { ...session, ...facts, ...nothing, plannedAt: 1, usage: noUsage, limitUntil: null });
  });
  return id;
}
