import { randomUUID } from 'node:crypto';
import { waitUntil } from '@pawl/testing/wait-until';
import { expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import { askAs, atWork, endOf, endedUnseen } from './asking.ts';

const hourMs = 60 * 60_000;
const asksPerson = [
  { signal: { status: 'questions', questions: [{ id: 'db', question: 'Which database?' }] } },
  'wait',
];

/** A daemon whose time passes only when a test says so. */
async function unattended(policy: 'park' | 'decide') {
  const time = { now: Date.now() };
  const daemon = await startTestDaemon({
    clock: () => time.now,
    timing: { routeMs: 50 },
    choices: { questions: { deadlineMs: hourMs, policy } },
  });
  return { daemon, time };
}

/** The notices to an agent about others. */
async function noticesTo({ client }: TestDaemon, agentId: string): Promise<string[]> {
  const { mails } = await client.listMail({ agent: agentId, limit: 100 });
  return mails.filter(({ kind }) => kind === 'system').map(({ body }) => body);
}

test('decide: an agent that asked an absent person decides itself after the deadline', async () => {
  const { daemon, time } = await unattended('decide');
  await using _ = daemon;
  const asker = await atWork(daemon);
  const run = await daemon.ended(
    (await daemon.work([...asksPerson, 'echo_prompt', { complete: { summary: 'assumed it' } }])).id,
  );
  const { conversationId } = await askAs(daemon, asker, { person: true, question: 'May I?' });
  const end = endOf(agentClient(daemon.home, asker.id), conversationId);
  const { items } = await daemon.client.inbox();
  expect(items.map(({ deadlineAt }) => deadlineAt)).toEqual([time.now + hourMs, time.now + hourMs]);
  time.now += hourMs;
  expect(await end).toMatchObject({ end: 'not-now' });
  await waitUntil(async () => (await viewOf(daemon.client, run.id)).run?.detail === 'assumed it', {
    what: 'its run to go on',
  });
  const { events } = await daemon.client.events({ agent: run.id, limit: 1000 });
  expect(events.filter(({ type }) => type === 'agent.answered').map(({ data }) => data)).toEqual([
    { by: 'policy', answers: 0 },
  ]);
});

test('park: it stays in the inbox, and the agent’s supervisor is told once', async () => {
  const { daemon, time } = await unattended('park');
  await using _ = daemon;
  const parent = await atWork(daemon);
  const child = await daemon.fork(parent.id, { prompt: 'help me', switch: false });
  const { conversationId } = await askAs(daemon, child, { person: true, question: 'May I?' });
  const denied = agentClient(daemon.home, child.id).askPermission({ tool: 'Bash' }, randomUUID());
  await waitUntil(async () => (await daemon.client.inbox()).items.length === 2, { what: 'both in the inbox' });
  time.now += hourMs;
  expect(await denied).toMatchObject({ behavior: 'deny' });
  await waitUntil(async () => (await noticesTo(daemon, parent.id)).length === 2, { what: 'both notices' });
  time.now += 5 * hourMs;
  // All notices are sent by the time that a later question has ended.
  const later = await askAs(daemon, child, { person: true, question: 'And this?', timeoutMs: 1 });
  time.now += 1;
  await endedUnseen(daemon, later.conversationId);
  const notices = await noticesTo(daemon, parent.id);
  expect(notices).toHaveLength(2);
  expect(notices.filter((text) => text.includes('has no answer so far: May I?'))).toHaveLength(1);
  expect(notices.filter((text) => text.includes('was denied'))).toHaveLength(1);
  expect((await daemon.client.inbox()).items.map(({ id }) => id)).toEqual([conversationId]);
});
