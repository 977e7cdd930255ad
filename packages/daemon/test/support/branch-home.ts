import { createCaches } from '@pawl/daemon/platform/caches';
import { ensureRootAgent } from '@pawl/daemon/platform/root-agent';
import type { SessionPlatform } from '@pawl/daemon/accounts/session-platform';
import { ownGitDirectory, placeOf, repositoryOf } from '@pawl/daemon/platform/platform';
import { addWorktree } from '@pawl/git/worktree/worktree';
import { homeAt } from '@pawl/protocol/node/home';
import { providerRegistry } from '@pawl/providers/registry';
import type { Change } from '@pawl/schema/change';
import { newId } from '@pawl/schema/id';
import type { Agent } from '@pawl/schema/record';
import { insertChange } from '@pawl/store/changes/changes';
import { dataDirectory, openDataDirectory } from '@pawl/store/directory/data-directory';
import { readEvents } from '@pawl/store/events';
import { waitingMail } from '@pawl/store/mail/mail';
import { insertProject, listProjects } from '@pawl/store/projects/projects';
import { beginQueue, updateQueue } from '@pawl/store/changes/queues';
import { sqliteEngine } from '@pawl/store/engine/sqlite-engine';
import { openStore } from '@pawl/store/store';
import { giveDatabase } from '@pawl/testing/home-database';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { noSecrets } from './no-secrets.ts';
import { commitFiles, type Files } from './merge-queue.ts';
import { changeRecord } from './records.ts';
import { addRestingAgents } from './resting-agents.ts';

const files = { 'a.txt': '1\n2\n3\n4\n5\n', 'b.txt': 'b\n', 'c.txt': 'c\n' };

/**
 * A home with a project whose queue has started, and idle agents with real worktrees, but no daemon. It may be opened
 * again.
 */
export async function openBranchHome(place: string) {
  const home = homeAt(join(place, 'home'));
  openDataDirectory(home.root);
  await giveDatabase(home.root);
  const store = await openStore(sqliteEngine(dataDirectory(home.root).database), { clock: Date.now });
  const root = join(place, 'sample');
  const [known] = await listProjects(store.db);
  const project = known ?? { id: newId(), name: 'sample', root, createdAt: 1 };
  if (known === undefined) {
    await sampleRepository(root, { files });
    await ensureRootAgent(store);
    await store.write(async (tx) => {
      await insertProject(tx, project);
      await beginQueue(tx, project.id, 'main');
    });
  }
  const platform = {
    ...noSecrets,
    home,
    store,
    clock: Date.now,
    repositories: new Map(),
    caches: createCaches(),
    providers: providerRegistry([], []),
    log: pino({ enabled: false }),
  } as Partial<SessionPlatform> as SessionPlatform;
  const repository = await repositoryOf(platform, project);
  const ownDir = ownGitDirectory(home, project.id);

  return {
    place,
    platform,
    store,
    root,
    project,
    repository,
    ownDir,
    /** Commits on main, and records that the queue has seen it. */
    async main(changed: Files): Promise<string> {
      const seen = await commitFiles(root, changed, 'on main');
      await store.write((tx) => updateQueue(tx, project.id, { seen }));
      return seen;
    },
    /** An idle agent with a worktree at main. */
    async agent(alias: string, fields: Partial<Agent> = {}): Promise<Agent> {
      const main = await git(root, ['rev-parse', 'main']);
      await store.write((tx) => updateQueue(tx, project.id, { seen: main }));
      const own = { branch: `work/${alias}`, baseCommit: main, worktree: join(home.worktrees, alias) };
      const [agent] = await addRestingAgents(home, [
        { alias, ...own, assignment: 'a task', worktreeReadyAt: 1, ...fields },
      ]);
      if (agent === undefined) throw new Error('there is no agent');
      mkdirSync(home.worktrees, { recursive: true });
      if (fields.worktree !== null) await addWorktree(repository, { ownDir, ...placeOf(agent) });
      return agent;
    },
    async change(fields: Partial<Change>): Promise<Change> {
      const change = changeRecord({ projectId: project.id, ...fields });
      await store.write((tx) => insertChange(tx, change));
      return change;
    },
    /** The texts of the mail that waits for an agent. */
    mailTo: async ({ id }: Agent) => (await waitingMail(store.db, id, 100)).map(({ kind, body }) => `${kind}: ${body}`),
    events: async (type: string) =>
      (await readEvents(store.db, { afterSeq: 0, limit: 1000 })).filter((event) => event.type === type),
    tip: (agent: Agent) => git(root, ['rev-parse', agent.branch ?? '']),
    status: (agent: Agent) => git(agent.worktree ?? '', ['status', '--porcelain']),
    [Symbol.asyncDispose]: () => store.close(),
  };
}

export type BranchHome = Awaited<ReturnType<typeof openBranchHome>>;
