import { createCaches } from '@pawl/daemon/platform/caches';
import { newChange } from '@pawl/core/changes/change-life';
import type { ForgeContext } from '@pawl/daemon/forge-sync/forge-context';
import type { ForgeLink } from '@pawl/daemon/forge-sync/forge';
import { syncForge } from '@pawl/daemon/forge-sync/forge-sync';
import { ensureRootAgent } from '@pawl/daemon/platform/root-agent';
import type { SessionPlatform } from '@pawl/daemon/accounts/session-platform';
import { ownGitDirectory } from '@pawl/daemon/platform/platform';
import { createGithub } from '@pawl/forge/github/github';
import { ensureOwnDirectory } from '@pawl/git/merge/own-directory';
import { importCommits } from '@pawl/git/merge/queue-objects';
import { fetchBranch } from '@pawl/git/repository/remote';
import { openRepository } from '@pawl/git/repository/repository';
import { homeAt } from '@pawl/protocol/node/home';
import type { Change } from '@pawl/schema/change';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { ProjectConfig } from '@pawl/schema/project-config';
import { changeById, insertChange, openChanges, updateChange } from '@pawl/store/changes/changes';
import type { ChangePatch } from '@pawl/store/changes/changes';
import { dataDirectory, openDataDirectory } from '@pawl/store/directory/data-directory';
import { readEvents } from '@pawl/store/events';
import { updateProjectSettings } from '@pawl/store/projects/project-settings';
import { insertProject } from '@pawl/store/projects/projects';
import { beginQueue } from '@pawl/store/changes/queues';
import { sqliteEngine } from '@pawl/store/engine/sqlite-engine';
import { openStore } from '@pawl/store/store';
import { createFakeGithub } from '@pawl/testing/fake-gh/fake-github';
import type { FakeState } from '@pawl/testing/fake-gh/state';
import { giveDatabase } from '@pawl/testing/home-database';
import { git } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { noSecrets } from './no-secrets.ts';
import { checksOf } from './check-home.ts';

/** A project whose remote is a fake GitHub server, and what a forge pass needs of a daemon, but no daemon. */
export async function openForgeHome(given: { server?: Partial<FakeState>; config?: Partial<ProjectConfig> } = {}) {
  const place = await temporaryDirectory();
  const server = await createFakeGithub(place.path, given.server);
  const root = join(place.path, 'sample');
  await git(place.path, ['clone', '--quiet', server.repository, root]);
  const home = homeAt(join(place.path, 'home'));
  openDataDirectory(home.root);
  await giveDatabase(home.root);
  mkdirSync(home.repositories, { recursive: true, mode: 0o700 });
  let now = Date.UTC(2026, 5, 1);
  const clock = () => now;
  const store = await openStore(sqliteEngine(dataDirectory(home.root).database), { clock });
  await ensureRootAgent(store);
  const project = { id: newId(), name: 'sample', root, createdAt: 1 };
  await store.write(async (tx) => {
    await insertProject(tx, project);
    await beginQueue(tx, project.id, 'main');
    await updateProjectSettings(tx, project.id, { pushAllowedAt: tx.now });
  });
  const platform = {
    caches: createCaches(),
    ...noSecrets,
    home,
    store,
    clock,
    environment: process.env,
    log: pino({ enabled: false }),
  } as unknown as SessionPlatform;
  const repository = await openRepository(root);
  const ownDir = ownGitDirectory(home, project.id);
  await ensureOwnDirectory(repository, ownDir);
  const config: ProjectConfig = { ...checksOf(['true']), forge: 'github', method: 'squash', ...given.config };
  const gh = async (words: readonly string[], input?: string) => server.gh(words, input);
  const forge = createGithub({ gh, repository: { host: 'github.com', owner: 'octo', name: 'sample' }, track: 'all' });
  const url = server.repository;
  const link: ForgeLink = { forge, url, push: { url, fork: null }, mayMerge: true, nextAt: 0, main: null };

  /** The context of a queue pass. */
  async function bench(): Promise<ForgeContext> {
    const tip = (await fetchBranch(repository, { ownDir, url, branch: 'main' })) ?? '';
    const target = { branch: 'main', tip, remote: { name: 'origin', url } };
    return { platform, project, repository, ownDir, target, config, link };
  }
  return {
    platform,
    store,
    server,
    project,
    config,
    link,
    root,
    bench,
    /** Lets time pass, and runs a forge pass. */
    async sync(afterMs: number = limits.forgeMs) {
      now += afterMs;
      return syncForge(await bench());
    },
    /** Commits to a branch of the checkout and returns its tip. */
    async commit(branch: string, files: Record<string, string>, options: { amend?: boolean } = {}): Promise<string> {
      const known = (await git(root, ['branch', '--list', branch])) !== '';
      await git(root, known ? ['switch', '--quiet', branch] : ['switch', '--quiet', '-c', branch, 'main']);
      for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
      await git(root, ['add', '--all']);
      const who = ['-c', 'user.name=Worker', '-c', 'user.email=worker@example.invalid'];
      const amend = options.amend === true ? ['--amend'] : [];
      await git(root, [...who, 'commit', '--quiet', ...amend, '-m', `work on ${branch}`]);
      return git(root, ['rev-parse', 'HEAD']);
    },
    /** Proposes a branch, as `pawl change open` does. */
    async propose(branch: string, patch: ChangePatch = {}): Promise<Change> {
      const head = await git(root, ['rev-parse', branch]);
      const main = await git(root, ['rev-parse', 'main']);
      await importCommits(repository, ownDir, { tips: [head], not: [main] });
      const change = newChange({
        ...plainChange,
        id: newId(),
        projectId: project.id,
        branch,
        head,
        base: main,
        ...patch,
      });
      await store.write((tx) => insertChange(tx, change));
      return change;
    },
    /** Proposes the later tip of a branch. */
    async repropose({ id, branch }: Change): Promise<string> {
      const head = await git(root, ['rev-parse', branch]);
      await importCommits(repository, ownDir, { tips: [head], not: [await git(root, ['rev-parse', 'main'])] });
      await store.write((tx) => updateChange(tx, id, { head }));
      return head;
    },
    async changeOf(id: string): Promise<Change> {
      const change = await changeById(store.db, id);
      if (change === null) throw new Error(`There is no change ${id}.`);
      return change;
    },
    openChanges: () => openChanges(store.db, project.id),
    pulls: () => server.on(({ pulls }) => pulls),
    async events(...types: string[]) {
      const events = await readEvents(store.db, { afterSeq: 0, limit: 1000 });
      return events.filter(({ type }) => types.includes(type)).map(({ type, data }) => ({ type, ...data }));
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      await place[Symbol.asyncDispose]();
    },
  };
}

const plainChange = {
  agentId: null,
  taskId: null,
  title: 'A change',
  summary: 'What it does.',
  openedAt: 1,
  queuedAt: 1,
};
