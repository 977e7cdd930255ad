import type { Choices } from '@pawl/daemon/platform/platform';
import { unconfined } from './unconfined.ts';
import { programs } from '@pawl/protocol/node/programs';
import { createCaches } from '@pawl/daemon/platform/caches';
import type { CheckBounds } from '@pawl/daemon/checks/check-limit';
import { defaultBounds } from '@pawl/daemon/checks/check-limit';
import type { Checker } from '@pawl/daemon/checks/checker';
import { createChecker } from '@pawl/daemon/checks/checker';
import type { Accounts } from '@pawl/daemon/accounts/accounts';
import type { SessionPlatform } from '@pawl/daemon/accounts/session-platform';
import { repositoryOf } from '@pawl/daemon/platform/platform';
import { createSandboxing } from '@pawl/daemon/platform/sandboxing';
import { createHost } from '@pawl/host/host';
import { strayProcesses } from '@pawl/host/session/stray';
import { homeAt } from '@pawl/protocol/node/home';
import type { Check, CheckStep } from '@pawl/schema/change';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { ProjectConfig } from '@pawl/schema/project-config';
import { checkById, openChecks, readCheckChunks } from '@pawl/store/changes/checks';
import { dataDirectory, openDataDirectory } from '@pawl/store/directory/data-directory';
import { readEvents } from '@pawl/store/events';
import { insertProject, listProjects } from '@pawl/store/projects/projects';
import { sqliteEngine } from '@pawl/store/engine/sqlite-engine';
import { openStore } from '@pawl/store/store';
import { giveDatabase } from '@pawl/testing/home-database';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';

export type Step = Partial<CheckStep> & { run: string };

export type CheckHomeOptions = {
  choices?: Partial<Choices>;
  /** Files of the repository that is checked. */
  files?: Record<string, string>;
  /** The daemon's environment beyond the common one. */
  environment?: NodeJS.ProcessEnv;
  /** The secrets of the home's accounts. */
  secrets?: string[];
  clock?: () => number;
};

/** The commands of a project. */
export function checksOf(steps: readonly (Step | string)[], env: string[] = []): ProjectConfig {
  const checks = steps.map((given, no) => {
    const step = typeof given === 'string' ? { run: given } : given;
    return { name: `step ${no + 1}`, timeoutMs: limits.checkMs, junit: [], ...step };
  });
  return {
    checks,
    plan: JSON.stringify(steps),
    env,
    branch: null,
    method: 'merge',
    batch: 1,
    parallel: null,
    remote: null,
    auto: true,
    enabled: true,
    forge: 'local',
    track: 'all',
    review: null,
    fixer: null,
    guard: { enabled: true, paths: [] },
    access: null,
    rules: [],
    playground: true,
    source: 'none',
    checkout: null,
  };
}

/**
 * A home with one project, and what a checker needs of a daemon, but no daemon. Opened again, it has the same project.
 */
export async function openCheckHome(place: string, options: CheckHomeOptions = {}) {
  const { files = { 'README.md': '# Sample\n' }, environment = {}, clock = Date.now } = options;
  const home = homeAt(join(place, 'home'));
  openDataDirectory(home.root);
  await giveDatabase(home.root);
  const store = await openStore(sqliteEngine(dataDirectory(home.root).database), { clock });
  const root = join(place, 'sample');
  const [known] = await listProjects(store.db);
  const project = known ?? { id: newId(), name: 'sample', root, createdAt: 1 };
  if (known === undefined) {
    await sampleRepository(root, { files });
    await store.write((tx) => insertProject(tx, project));
  }
  const { PATH, HOME } = process.env;
  const sandbox = createSandboxing({});
  const platform = {
    home,
    store,
    clock,
    startedAt: clock(),
    environment: { PATH, HOME, ...environment },
    repositories: new Map(),
    caches: createCaches(),
    host: createHost({ confine: sandbox.confine }),
    sandbox,
    choices: { ...unconfined, ...options.choices },
    pawl: programs.pawl,
    accounts: { secrets: () => options.secrets ?? [] } as Partial<Accounts> as Accounts,
    log: pino({ enabled: false }),
  } as Partial<SessionPlatform> as SessionPlatform;
  const repository = await repositoryOf(platform, project);
  const checkers: Checker[] = [];
  const ended: Check[] = [];
  let reading: Promise<void> = Promise.resolve();
  store.onCommit(({ events }) => {
    for (const { type, data } of events)
      if (type === 'check.ended') reading = reading.then(() => note(String(data['checkId'])));
  });

  async function note(checkId: string): Promise<void> {
    const check = await checkById(store.db, checkId);
    if (check !== null) ended.push(check);
  }

  return {
    platform,
    store,
    root,
    project,
    /** The reported results, in order. */
    ended,
    checker(bounds: Partial<CheckBounds> = {}): Checker {
      const checker = createChecker(platform, {
        ...defaultBounds,
        graceMs: 200,
        ...bounds,
      });
      checkers.push(checker);
      return checker;
    },
    /** Starts a check of a commit. */
    async start(checker: Checker, config: ProjectConfig, commit = 'main'): Promise<Check> {
      const [id = '', tree = ''] = (await git(root, ['rev-parse', commit, `${commit}^{tree}`])).split('\n');
      return checker.start({ project, repository, commit: id, tree, onto: id, changes: [], config });
    },
    /** Waits until a check is over and nothing of it is left. */
    async result(checkId: string): Promise<Check> {
      const check = await waitUntil(
        async () => {
          const found = await checkById(store.db, checkId);
          return (found?.endedAt ?? null) === null || existsSync(join(home.checks, checkId)) ? null : found;
        },
        { what: 'the end of the check' },
      );
      await reading;
      return check;
    },
    /** Its stored output. */
    async output(checkId: string): Promise<Buffer> {
      const chunks = [];
      for (let afterId = 0; ;) {
        const page = await readCheckChunks(store.db, checkId, { afterId, limitBytes: 1024 * 1024 });
        if (page.length === 0) return Buffer.concat(chunks.map(({ bytes }) => bytes));
        chunks.push(...page);
        afterId = page.at(-1)?.id ?? 0;
      }
    },
    events: async (type: string) =>
      (await readEvents(store.db, { afterSeq: 0, limit: 1000 })).filter((event) => event.type === type),
    /** Processes that a check has left behind. */
    left: (checkId: string): number => strayProcesses(checkId).length,
    directories: () => readdir(home.checks),
    async [Symbol.asyncDispose]() {
      for (const checker of checkers) {
        for (const { id } of await openChecks(store.db)) await checker.cancel(id, 'the test is over').catch(() => null);
        await checker.close();
      }
      await store.close();
    },
  };
}
