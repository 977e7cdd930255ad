import { programs } from '@pawl/protocol/node/programs';
import type { AgentView } from '@pawl/protocol/agents/view';
import { limits } from '@pawl/schema/limit';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { askAs, atRest, atWork, endOf, endedUnseen, mailsAbout, sessionsOf } from './asking.ts';

/** Time passes only when a test says so. */
let now = Date.now();
let daemon: TestDaemon;
let asker: AgentView;
let asked: AgentView;
let place: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  // A provider whose program can be removed.
  place = await temporaryDirectory();
  const home = join(place.path, 'home');
  mkdirSync(home, { mode: 0o700 });
  const script = join(home, 'brittle.sh');
  const words = [process.execPath, ...programs.scriptedAgent].map((word) => `'${word}'`).join(' ');
  writeFileSync(script, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o700 });
  const command = [script, '-p', '--input-format', 'stream-json', '--output-format', 'stream-json'];
  const providers = { brittle: { extends: 'scripted', command, echoes: false } };
  daemon = await startTestDaemon({ clock: () => now, timing: { routeMs: 50 }, home, providers });
  [asker, asked] = await Promise.all([atWork(daemon), atWork(daemon)]);
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
});

describe('a deadline', () => {
  test('ends the asker’s wait, and says how long it was [5.2.13]', async () => {
    const ask = (timeoutMs: number) => askAs(daemon, asker, { agent: asked.id, question: 'x?', timeoutMs });
    const [sooner, { conversationId, deadlineAt }] = [await ask(29_999), await ask(30_000)];
    expect(deadlineAt).toBe(now + 30_000);
    const end = endOf(agentClient(daemon.home, asker.id), conversationId);
    now += 29_999;
    expect((await endedUnseen(daemon, sooner.conversationId)).end).toBe('expired');
    expect((await daemon.client.showQuestion(conversationId)).question.end).toBeNull();
    now += 1;
    expect(await end).toMatchObject({
      end: 'expired',
      answer: null,
      reason: `${asked.alias} has not answered within 30 s`,
    });
    const late = agentClient(daemon.home, asked.id).answer(conversationId, { answer: 'too late' });
    await expect(late).rejects.toMatchObject({ code: 'conflict' });
  });

  test('is ten minutes by default, and an asker that no longer waits is told by mail', async () => {
    const { conversationId } = await askAs(daemon, asker, { agent: asked.id, question: 'anybody?' });
    now += limits.questionMs;
    expect((await endedUnseen(daemon, conversationId)).end).toBe('expired');
    const told = (await mailsAbout(daemon, conversationId)).filter(({ to }) => to === asker.id);
    expect(told).toMatchObject([{ kind: 'system' }]);
  });
});

describe('an answer', () => {
  test('that its command has shown is not sent a second time', async () => {
    const self = agentClient(daemon.home, asker.id);
    const { conversationId } = await askAs(daemon, asker, { agent: asked.id, question: 'which?' });
    const end = endOf(self, conversationId);
    await agentClient(daemon.home, asked.id).answer(conversationId, { answer: 'this one' });
    expect((await end).answer).toBe('this one');
    await self.noteShown(conversationId);
    await self.noteShown(conversationId);
    const answers = (await mailsAbout(daemon, conversationId)).filter(({ to }) => to === asker.id);
    expect(answers).toEqual([{ to: asker.id, kind: 'answer', states: ['sent', 'delivered', 'read'] }]);
    expect((await mailsAbout(daemon, conversationId))[0]?.states.at(-1)).toBe('acked');
  });

  test('to an asker whose command was killed comes as mail, once [fault 4]', async () => {
    const { conversationId } = await askAs(daemon, asker, { agent: asked.id, question: 'which one?' });
    const leaving = new AbortController();
    const left = agentClient(daemon.home, asker.id).followQuestion(conversationId, leaving.signal).next();
    leaving.abort();
    await left;
    now += limits.answerGraceMs;
    await agentClient(daemon.home, asked.id).answer(conversationId, { answer: 'that one' });
    const answers = await waitUntil(
      async () => {
        const found = (await mailsAbout(daemon, conversationId)).filter(({ to }) => to === asker.id);
        return found.some(({ states }) => states.includes('delivered')) ? found : undefined;
      },
      { what: 'the answer by mail' },
    );
    expect(answers).toMatchObject([{ kind: 'answer', states: ['sent', 'delivered'] }]);
  });

  test('that was not fetched is sent after its deadline', async () => {
    const { conversationId } = await askAs(daemon, asker, { agent: asked.id, question: 'who?' });
    await agentClient(daemon.home, asked.id).answer(conversationId, { answer: 'me' });
    expect((await mailsAbout(daemon, conversationId)).filter(({ to }) => to === asker.id)).toEqual([]);
    now += limits.answerGraceMs;
    await waitUntil(async () => (await mailsAbout(daemon, conversationId)).some(({ kind }) => kind === 'answer'), {
      what: 'the answer by mail',
    });
  });

  test('is given once; repeating it is not an error, another one is [5.2.14]', async () => {
    const { conversationId } = await askAs(daemon, asker, { agent: asked.id, question: 'which?' });
    const self = agentClient(daemon.home, asked.id);
    const answered = { conversationId, status: 'answered' };
    expect(await self.answer(conversationId, { answer: 'this' })).toEqual(answered);
    expect(await self.answer(conversationId, { answer: 'this' })).toEqual(answered);
    await expect(self.answer(conversationId, { answer: 'that' })).rejects.toMatchObject({ code: 'conflict' });
  });

  test('a question repeated with its key is asked once', async () => {
    const key = randomUUID();
    const self = agentClient(daemon.home, asker.id);
    const body = { agent: asked.id, question: 'once?' };
    const all = await Promise.all([1, 2, 3].map(async () => (await self.ask(body, key)).question.conversationId));
    expect(new Set(all).size).toBe(1);
    await agentClient(daemon.home, asked.id).answer(all[0] ?? '', { answer: 'once' });
  });
});

describe('a question ends with', () => {
  test('its recipient, and with its asker', async () => {
    const [dying, other] = [await atWork(daemon), await atWork(daemon)];
    const toDying = await askAs(daemon, asker, { agent: dying.id, question: 'x?' });
    const fromDying = await askAs(daemon, dying, { agent: other.id, question: 'y?' });
    const end = endOf(agentClient(daemon.home, asker.id), toDying.conversationId);
    await daemon.client.killAgent(dying.id, {});
    expect(await end).toMatchObject({ end: 'cancelled', reason: `${dying.alias} is dead` });
    expect(await endedUnseen(daemon, fromDying.conversationId)).toMatchObject({ end: 'cancelled' });
  });

  test('the stop of its recipient', async () => {
    const agent = await atWork(daemon);
    const { conversationId } = await askAs(daemon, asker, { agent: agent.id, question: 'x?' });
    await daemon.client.stopAgent(agent.id);
    expect(await endedUnseen(daemon, conversationId)).toMatchObject({
      end: 'cancelled',
      reason: `${agent.alias} can no longer answer: it was stopped`,
    });
  });

  test('a recipient that rests without an answer, after it was asked a bounded number of times [S3-61]', async () => {
    const agent = await atRest(
      daemon,
      Array.from({ length: 9 }, () => 'complete'),
    );
    const { conversationId } = await askAs(daemon, asker, { agent: agent.id, question: 'x?' });
    const end = await endOf(agentClient(daemon.home, asker.id), conversationId);
    expect(end).toMatchObject({
      end: 'cancelled',
      reason: expect.stringContaining('is idle without an answer') as string,
    });
    expect(await sessionsOf(daemon, agent)).toBe(1 + limits.mailAttempts);
  });
});

test('an agent without a definition is not asked, and is again when the definition is back [S3-62]', async () => {
  const definition = { name: 'helper', description: 'helps', kind: 'main' };
  daemon.define('helper', definition);
  const work = await daemon.work([{ say: 'hello' }, 'complete', 'hang'], { definition: 'helper' });
  const agent = await daemon.ended(work.id);
  rmSync(join(daemon.repository, '.pawl', 'agents', 'helper.md'));
  const asking = askAs(daemon, asker, { agent: agent.id, question: 'are you there?' });
  await expect(asking).rejects.toMatchObject({ code: 'conflict' });
  daemon.define('helper', definition);
  await askAs(daemon, asker, { agent: agent.id, question: 'and now?' });
  await waitUntil(async () => (await sessionsOf(daemon, agent)) === 2, {
    what: 'its second session',
  });
});

test('a question is stored even if its recipient could not be resumed [S3-62, 5.2.8, 8.8]', async () => {
  const script = join(daemon.home.root, 'brittle.sh');
  const agent = await daemon.ended((await daemon.work([{ say: 'hello' }, 'complete'], { provider: 'brittle' })).id);
  rmSync(script);
  const { conversationId } = await askAs(daemon, asker, { agent: agent.id, question: 'are you there?' });
  expect(await endedUnseen(daemon, conversationId)).toMatchObject({ end: 'cancelled', answer: null });
  expect((await daemon.client.inspectAgent(agent.id)).agent.run?.status).toBe('failed');
});
