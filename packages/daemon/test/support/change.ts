import type { Client } from '@pawl/protocol/client';
import type { Event, EventType } from '@pawl/schema/event';
import type { ChangePatch } from '@pawl/store/changes/changes';
import { updateChange } from '@pawl/store/changes/changes';
import type { Store } from '@pawl/store/store';
import { git, isolatedGitEnvironment } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { TestDaemon } from './daemon.ts';
import { startTestDaemon } from './daemon.ts';
import { storeOf } from './stores.ts';
import { commitFiles, configWith } from './merge-queue.ts';

/** A daemon whose project configures checks, and whose queue does nothing, so that changes stay as they are. */
export async function startQuietDaemon(more = ''): Promise<TestDaemon> {
  const daemon = await startTestDaemon();
  const config = configWith('echo passed', `queue: {enabled: false}\nfixer: false\n${more}`);
  await commitFiles(daemon.repository, { '.pawl/config.yaml': config });
  return daemon;
}

/** Creates many branches in one go, each with one commit on top of main. */
export async function makeBranches(repository: string, names: readonly string[]): Promise<void> {
  const main = await git(repository, ['rev-parse', 'main']);
  const stream = names.map((name, index) => {
    const file = `${name.replaceAll('/', '-')}.txt`;
    const message = `work on ${name}`;
    return [
      `commit refs/heads/${name}`,
      `committer Ada <ada@example.invalid> ${1_767_225_600 + index} +0000`,
      `data ${Buffer.byteLength(message)}\n${message}`,
      `from ${main}`,
      `M 100644 inline ${file}`,
      'data 2\nx\n',
    ].join('\n');
  });
  const options = { cwd: repository, env: isolatedGitEnvironment(), input: `${stream.join('\n')}\n` };
  execFileSync('git', ['fast-import', '--quiet'], options);
}

/** Reads or writes the registry of a daemon in this process. */
export async function inStore<T>(root: string, act: (store: Store) => Promise<T>): Promise<T> {
  return act(storeOf(root));
}

/** Pawl's own git directory of the only project. */
export async function ownDirectory(daemon: Pick<TestDaemon, 'client' | 'home'>): Promise<string> {
  const [project] = (await daemon.client.listProjects()).projects;
  return join(daemon.home.repositories, `${project?.id ?? ''}.git`);
}

/** Updates a change, as the queue would, once the queue has examined its head. */
export async function patchChange(
  { client, home }: Pick<TestDaemon, 'client' | 'home'>,
  { id }: { id: string },
  fields: ChangePatch,
): Promise<void> {
  const isExamined = async () => {
    const { change } = await client.showChange(id);
    return change.examinedHead === change.head;
  };
  await waitUntil(isExamined, { what: 'the queue to look at the change' });
  await inStore(home.root, (store) => store.write((tx) => updateChange(tx, id, fields)));
}

/** The events of these types about one change, oldest first. */
export async function changeEvents(client: Client, changeId: string, ...types: EventType[]): Promise<Event[]> {
  const { events } = await client.events({ limit: 1000 });
  return events.filter(
    ({ type, data }) => data['changeId'] === changeId && (types.length === 0 || types.includes(type)),
  );
}
