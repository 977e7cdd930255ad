import type { AgentView } from '@pawl/protocol/agents/view';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import { startQuietDaemon } from '../support/change.ts';
import { completionMails } from '../support/complete.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { viewOf } from '../support/daemon.ts';
import { committing } from '../support/errand.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startQuietDaemon();
  daemon.define('reader', { kind: 'main', class: 'ephemeral', tools: ['*'], policy: [] });
  daemon.define('sticky', { kind: 'main', class: 'ephemeral', tools: ['*'], policy: [] });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const withheld = async (agent: Pick<AgentView, 'id'>) =>
  (await daemon.client.events({ agent: agent.id, limit: 500 })).events.filter(({ type }) => type === 'change.withheld');
const waiting = async ({ id }: Pick<AgentView, 'id'>) =>
  (await daemon.client.inbox()).entries.filter(({ kind, agent }) => kind === 'withheld' && agent?.id === id);
const changesOf = async ({ id }: Pick<AgentView, 'id'>) =>
  (await daemon.client.listChanges({ path: daemon.repository, all: true })).changes.filter(
    ({ author }) => author?.id === id,
  );

/** Runs another queue pass and waits for it, since that opens a worker's change. */
async function afterLook(): Promise<void> {
  const worker = await daemon.work([...committing(`${crypto.randomUUID()}.txt`, 'x'), 'complete']);
  await daemon.ended(worker.id);
  await waitUntil(async () => (await changesOf(worker)).length > 0, { what: 'the change of a worker' });
}

test('an agent without Patch that ends with commits opens no change, which is recorded once [S2-17]', async () => {
  const agent = await daemon.work([...committing('mine.txt', 'x'), 'complete'], { definition: 'reader' });
  await daemon.ended(agent.id);
  await waitUntil(async () => (await withheld(agent)).length > 0, { what: 'the event that nothing was proposed' });
  const head = await git(daemon.repository, ['rev-parse', `work/${agent.alias}`]);
  expect(await withheld(agent)).toMatchObject([
    { data: { branch: `work/${agent.alias}`, head, definition: 'reader' } },
  ]);
  await afterLook();
  expect([await changesOf(agent), await withheld(agent)]).toMatchObject([[], [{}]]);
  const branch = `work/${agent.alias}`;
  const next = [`git log main..${branch}`, `pawl change open ${branch}`, `git branch -D ${branch}`];
  expect(await waiting(agent)).toMatchObject([{ detail: expect.stringContaining('no Patch') as string, next }]);
  const { withheld: shown } = await daemon.client.inspectAgent(agent.id);
  expect(shown).toMatchObject([{ project: 'sample', branch, head, definition: 'reader' }]);
  // A person may propose it; then nothing waits any more.
  await daemon.client.openChange({ path: daemon.repository, branch });
  expect(await waiting(agent)).toEqual([]);
  expect((await daemon.client.inspectAgent(agent.id)).withheld).toEqual([]);
});

test('`work` says that the commits of such an agent stay on its branch', async () => {
  const options = { scenario: await daemon.scenario(['complete']) };
  const body = { path: daemon.repository, task: 'read', definition: 'reader', provider: 'scripted', options };
  const { whenDone } = await daemon.client.work(body, crypto.randomUUID());
  expect(whenDone).toEqual({
    outcome: 'nothing',
    text: 'its commits stay on its branch, since the definition reader has no Patch; `pawl inbox` shows them',
  });
});

test('withheld commits wait until their branch is deleted or merged by hand', async () => {
  const agents = [
    await daemon.work([...committing('one.txt', 'x'), 'complete'], { definition: 'reader' }),
    await daemon.work([...committing('two.txt', 'x'), 'complete'], { definition: 'reader' }),
  ] as const;
  for (const agent of agents) {
    await daemon.ended(agent.id);
    await waitUntil(async () => (await waiting(agent)).length === 1, { what: 'its commits in the inbox' });
  }
  const [deleted, merged] = agents;
  await git(daemon.repository, ['update-ref', '-d', `refs/heads/work/${deleted.alias}`]);
  expect(await waiting(deleted)).toEqual([]);
  await git(daemon.repository, ['merge', '--quiet', `work/${merged.alias}`]);
  await daemon.client.checkQueue({ path: daemon.repository });
  await waitUntil(async () => (await waiting(merged)).length === 0, { what: 'the queue to see main' });
});

test('neither does `pawl complete`, and the notices say why [S2-17, S4-10]', async () => {
  const agent = await daemon.work([...committing('more.txt', 'x'), { pawl: ['complete', '--summary', 'read'] }], {
    definition: 'reader',
  });
  await daemon.ended(agent.id);
  const mail = await waitUntil(async () => (await completionMails(daemon.home.root, agent.id))[0], {
    what: 'the mail about its completion',
  });
  expect(mail.body).toContain('its commits stay on its branch, since the policy of its definition has no Patch');
  await afterLook();
  expect([await changesOf(agent), await withheld(agent)]).toMatchObject([[], [{}]]);
});

test('an edited definition in the repository gives an agent no rights, neither at work nor at rest [S2-17, 7.16]', async () => {
  const agent = await daemon.work([...committing('late.txt', 'x'), 'complete', 'hang'], { definition: 'sticky' });
  await daemon.ended(agent.id);
  daemon.define('sticky', { kind: 'main', class: 'ephemeral', tools: ['*'], policy: ['Patch'] });
  const client = agentClient(daemon.home, agent.id);
  const refused = { code: 'forbidden', message: expect.stringContaining('its policy is empty') as string };
  await expect(client.openChange({})).rejects.toMatchObject(refused);
  // The next run starts with the file as it is then.
  await daemon.client.resumeAgent(agent.id, { prompt: 'on' }, crypto.randomUUID());
  await waitUntil(async () => (await viewOf(daemon.client, agent.id)).run?.status === 'running', {
    what: 'the second run',
  });
  // The run may have ended by now, and have been proposed automatically.
  expect((await client.openChange({ draft: true })).change).toMatchObject({ branch: agent.branch });
});
