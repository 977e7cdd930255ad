import { limits } from '@pawl/schema/limit';
import { waitUntil } from '@pawl/testing/wait-until';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { mailIs, send, statesOf, timesShown } from '../support/mail.ts';
import { outputHas, outputText } from '../support/output.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

async function busy(steps: unknown[] = ['hang']) {
  const agent = await daemon.work([{ say: 'standing by' }, ...steps]);
  await outputHas(daemon.client, agent.id, 'standing by');
  return { ...agent, client: agentClient(daemon.home, agent.id) };
}

test('a mail that was shown live is named by a wait in the same turn, not shown again, and the next one is shown', async () => {
  const [agent, sender] = [await busy(), await busy()];
  const first = await send(sender.client, agent.id, 'shown live');
  await mailIs(daemon.client, first, 'delivered');
  expect(await agent.client.waitMail({ timeoutMs: 0 })).toEqual({ done: true, mails: [], shown: [first], agents: [] });
  expect(await agent.client.waitMail({ timeoutMs: 0, agents: [sender.id] })).toMatchObject({
    done: true,
    mails: [],
    shown: [first],
    agents: [{ state: 'received', mailId: first }],
  });
  // The command reports that it was read; from then on the next one is awaited.
  await agent.client.readMail(first);
  const waiting = agent.client.waitMail({ timeoutMs: limits.mailWaitMs });
  await agent.client.listMail();
  const second = await send(sender.client, agent.id, 'shown by the wait');
  expect(await waiting).toMatchObject({ done: true, mails: [{ id: second }], shown: [] });
  await agent.client.readMail(second);
  expect(await timesShown(daemon.client, agent.id, [first, second])).toEqual([1, 0]);
});

test('while a command prints its mail, later mail is not put into the turn before it', async () => {
  const [agent, sender] = [await busy(), await busy()];
  const waiting = agent.client.waitMail({ timeoutMs: limits.mailWaitMs });
  await agent.client.listMail();
  const first = await send(sender.client, agent.id, 'one');
  expect((await waiting).mails.map(({ id }) => id)).toEqual([first]);
  const second = await send(sender.client, agent.id, 'two');
  // Asked by the sender, whose request comes after the delivery would have started.
  await sender.client.listMail();
  expect(await statesOf(daemon.client, second)).toEqual(['sent']);
  await agent.client.readMail(first);
  await mailIs(daemon.client, second, 'delivered');
  expect(await timesShown(daemon.client, agent.id, [first, second])).toEqual([0, 1]);
});

test('an agent that waits for mail repeatedly sees each mail once and in order, live or by the command [8.7]', async () => {
  const rounds = { repeat: { times: 10, steps: [{ shell: 'pawl wait 1 || true' }, { say: 'seen' }] } };
  const agent = await busy([rounds, { say: 'all rounds are over' }, 'hang']);
  const sender = await busy();
  const sent: string[] = [];
  let isOver = false;
  while (!isOver) {
    const id = await send(sender.client, agent.id, `number ${sent.length}»`);
    sent.push(id);
    await mailIs(daemon.client, id, 'delivered');
    isOver = (await outputText(daemon.client, agent.id)).includes('all rounds are over');
  }
  const marks = async () => (await outputText(daemon.client, agent.id)).match(/number \d+(?=»)/g) ?? [];
  await waitUntil(async () => (await marks()).length >= sent.length, { what: 'every mail in the output' });
  expect(await marks()).toEqual(sent.map((_, number) => `number ${number}`));
});
