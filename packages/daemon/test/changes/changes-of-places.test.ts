import type { AgentView } from '@pawl/protocol/agents/view';
import type { ChangeView } from '@pawl/protocol/changes/view';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { PlacesDaemon } from '../support/places.ts';
import { commitIn, startPlacesDaemon } from '../support/places.ts';
import { commitFiles, configWith } from '../support/merge-queue.ts';

let daemon: PlacesDaemon;
beforeAll(async () => {
  daemon = await startPlacesDaemon();
  for (const repository of [daemon.repository, daemon.web])
    await commitFiles(repository, {
      '.pawl/config.yaml': configWith('true', 'queue: {enabled: false}\nfixer: false\n'),
    });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const both = { path: undefined, projects: ['sample', 'web'] };

const changesIn = async (path: string, agent: Pick<AgentView, 'id'>): Promise<ChangeView[]> =>
  (await daemon.client.listChanges({ path, all: true })).changes.filter(({ author }) => author?.id === agent.id);

/** The change of an agent in one of its projects, once it is open. */
const changeIn = (path: string, agent: Pick<AgentView, 'id'>): Promise<ChangeView> =>
  waitUntil(async () => (await changesIn(path, agent))[0], { what: `its change in ${path}` });

describe('an agent with commits in two projects', () => {
  test('proposes one change in the queue of each when it is done', async () => {
    const steps = [commitIn('sample', 'one.txt'), commitIn('web', 'two.txt'), 'complete'];
    const agent = await daemon.ended((await daemon.work(steps, both)).id);
    for (const [path, title] of [
      [daemon.repository, 'add one.txt'],
      [daemon.web, 'add two.txt'],
    ] as const) {
      const change = await changeIn(path, agent);
      expect(change).toMatchObject({ branch: `work/${agent.alias}`, title, author: { alias: agent.alias } });
      expect(change.head).toBe(await git(path, ['rev-parse', `work/${agent.alias}`]));
    }
  });

  test('proposes nothing where it has no commits', async () => {
    const agent = await daemon.ended((await daemon.work([commitIn('web', 'only.txt'), 'complete'], both)).id);
    await changeIn(daemon.web, agent);
    expect(await changesIn(daemon.repository, agent)).toEqual([]);
  });

  test('opens and handles a change in a further project itself, and only in its own projects', async () => {
    const steps = [commitIn('sample', 'three.txt'), commitIn('web', 'four.txt'), { signal: 'questions' }];
    const agent = await daemon.ended((await daemon.work(steps, both)).id);
    const own = agentClient(daemon.home, agent.id);
    const { change } = await own.openChange({ project: 'web', draft: true });
    expect(change).toMatchObject({ project: { name: 'web' }, author: { alias: agent.alias } });
    expect((await own.showChange(change.id)).change.id).toBe(change.id);
    const commented = await own.commentChange(change.id, { body: 'a remark' });
    expect(commented.comment.author?.alias).toBe(agent.alias);
    expect((await own.openChange({})).change.project.name).toBe('sample');

    const single = await daemon.ended((await daemon.work([{ signal: 'questions' }])).id);
    const stranger = agentClient(daemon.home, single.id);
    await expect(stranger.openChange({ project: 'web' })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(stranger.showChange(change.id)).rejects.toMatchObject({ code: 'not_found' });
    const work = stranger.work({ projects: ['sample', 'web'], task: 'x', provider: 'scripted' }, crypto.randomUUID());
    await expect(work).rejects.toMatchObject({ code: 'forbidden' });
  });
});
