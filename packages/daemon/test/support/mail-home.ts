import { createCaches } from '@pawl/daemon/platform/caches';
import { recordMail, shortBody } from '@pawl/daemon/mail/mail-record';
import { ensureRootAgent, rootAgent } from '@pawl/daemon/platform/root-agent';
import type { SessionPlatform } from '@pawl/daemon/accounts/session-platform';
import { homeAt } from '@pawl/protocol/node/home';
import { newId } from '@pawl/schema/id';
import type { Mail } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import { dataDirectory, openDataDirectory } from '@pawl/store/directory/data-directory';
import { readEvents } from '@pawl/store/events';
import { insertProject } from '@pawl/store/projects/projects';
import { sqliteEngine } from '@pawl/store/engine/sqlite-engine';
import { openStore } from '@pawl/store/store';
import { giveDatabase } from '@pawl/testing/home-database';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { join } from 'node:path';
import { pino } from 'pino';
import { noSecrets } from './no-secrets.ts';
import { addRestingAgents } from './resting-agents.ts';
import { shareStore, unshareStore } from './stores.ts';

/** A home with a project `shop`, three idle agents, and what the mail files need of a daemon, but no daemon. */
export async function openMailHome(given: { clock?: () => number } = {}) {
  const place = await temporaryDirectory();
  const home = homeAt(join(place.path, 'home'));
  openDataDirectory(home.root);
  await giveDatabase(home.root);
  const store = await openStore(sqliteEngine(dataDirectory(home.root).database), { clock: given.clock ?? Date.now });
  shareStore(home.root, store);
  const project = { id: newId(), name: 'shop', root: join(place.path, 'shop'), createdAt: 1 };
  await ensureRootAgent(store);
  await store.write((tx) => insertProject(tx, project));
  const aliases = ['calm-fox', 'old-owl', 'shy-elk'];
  const agents = await addRestingAgents(
    home,
    aliases.map((alias) => ({ alias })),
  );
  const [fox, owl, elk] = agents as [Agent, Agent, Agent];
  const root = await rootAgent(store.db);
  const platform = {
    caches: createCaches(),
    ...noSecrets,
    home,
    store,
    timing: { routeMs: 60_000 },
    clock: given.clock ?? Date.now,
    log: pino({ enabled: false }),
  } as SessionPlatform;
  return {
    platform,
    store,
    home,
    place: place.path,
    project,
    fox,
    owl,
    elk,
    root,
    send: (from: Agent, to: Agent, text: string): Promise<Mail> =>
      store.write((tx) => recordMail(tx, { from, to, kind: 'message' }, shortBody(text))),
    events: () => readEvents(store.db, { afterSeq: 0, limit: 1000 }),
    async [Symbol.asyncDispose]() {
      unshareStore(home.root);
      await store.close();
      await place[Symbol.asyncDispose]();
    },
  };
}
