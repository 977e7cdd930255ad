import { patienceMs } from '@pawl/testing/wait-until';
import { PawlError } from '@pawl/schema/error';
import type { AgentView } from '@pawl/protocol/agents/view';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { askAs, atRest, atWork } from './asking.ts';

let daemon: TestDaemon;
let asker: AgentView;
beforeAll(async () => {
  daemon = await startTestDaemon();
  asker = await atWork(daemon);
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** The error of a refused question, and that it was refused at once. */
async function refusal(body: Parameters<typeof askAs>[2], from = asker): Promise<PawlError> {
  const begun = performance.now();
  const error: unknown = await askAs(daemon, from, body).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(performance.now() - begun).toBeLessThan(patienceMs);
  if (!(error instanceof PawlError)) throw new Error('it was not refused');
  return error;
}

describe('a question is refused at once, with the reason, and no agent is resumed, if the recipient [S3-62, 5.2.13]', () => {
  test('does not exist', async () => {
    expect((await refusal({ agent: 'no-such-agent', question: 'x?' })).code).toBe('agent_not_found');
  });

  test('is the asker', async () => {
    expect(await refusal({ agent: asker.id, question: 'x?' })).toMatchObject({ code: 'invalid_input' });
  });

  test('has lost its worktree', async () => {
    const agent = await atRest(daemon);
    rmSync(agent.worktree ?? '', { recursive: true });
    expect((await refusal({ agent: agent.id, question: 'x?' })).message).toContain('it cannot be resumed');
  });

  test('is paused, was stopped, is dead', async () => {
    const agent = await atWork(daemon);
    await daemon.client.signalAgent(agent.id, 'pause');
    expect((await refusal({ agent: agent.id, question: 'x?' })).message).toContain('it is paused');
    await daemon.client.signalAgent(agent.id, 'continue');
    await daemon.client.stopAgent(agent.id);
    expect((await refusal({ agent: agent.id, question: 'x?' })).message).toContain('it was stopped');
    await daemon.client.killAgent(agent.id, {});
    expect(await refusal({ agent: agent.id, question: 'x?' })).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('dead') as string,
    });
  });
});

describe('by its task or phase [S3-61, S3-81]', () => {
  test('a working agent is asked, else an idle one; none is an error at once', async () => {
    const add = async (name: string) => {
      const body = { path: daemon.repository, name, phase: 'parsing' };
      return (await daemon.client.addTask(body)).task.id;
    };
    const [first, second, third] = [await add('the lexer'), await add('the parser'), await add('nobody does this')];
    const done = await daemon.ended((await daemon.work(['complete', 'hang'], { task: '', planned: first })).id);
    const asked = { task: first, question: 'which?' };
    expect((await askAs(daemon, asker, asked)).to.id).toBe(done.id);
    const busy = await atWork(daemon, { task: '', planned: second });
    const byPhase = await askAs(daemon, asker, { phase: 'parsing', question: 'which?' });
    expect(byPhase).toMatchObject({ to: { id: busy.id }, phaseId: 'parsing', taskId: null });
    expect(await askAs(daemon, asker, { task: 'the parser', question: 'x?' })).toMatchObject({
      to: { id: busy.id },
      taskId: second,
    });
    expect(await refusal({ task: third, question: 'x?' })).toMatchObject({ code: 'not_found' });
    expect(await refusal({ phase: 'no such phase', question: 'x?' })).toMatchObject({ code: 'not_found' });
    expect(await refusal({ task: 'no such task', question: 'x?' })).toMatchObject({ code: 'not_found' });
    expect(await refusal({ task: second, question: 'x?' }, busy)).toMatchObject({ code: 'invalid_input' });
  });
});

describe('an agent acts only as itself [7.6, fault 48]', () => {
  test('it asks, listens and answers for no other, and sees no question between others', async () => {
    const [other, stranger] = [await atWork(daemon), await atWork(daemon)];
    const { conversationId } = await askAs(daemon, asker, { agent: other.id, question: 'x?' });
    const strange = agentClient(daemon.home, stranger.id);
    const forbidden = { code: 'forbidden' };
    await expect(strange.ask({ from: asker.id, agent: other.id, question: 'x?' }, randomUUID())).rejects.toMatchObject(
      forbidden,
    );
    await expect(strange.answer(conversationId, { answer: 'x' })).rejects.toMatchObject(forbidden);
    await expect(strange.showQuestion(conversationId)).rejects.toMatchObject(forbidden);
    await expect(strange.openQuestions(other.id)).rejects.toMatchObject(forbidden);
    await expect(strange.listen(other.id).next()).rejects.toMatchObject(forbidden);
    await expect(strange.inbox()).rejects.toMatchObject(forbidden);
    // The asker cannot answer itself, and the person answers only questions to the person.
    await expect(agentClient(daemon.home, asker.id).answer(conversationId, { answer: 'x' })).rejects.toMatchObject(
      forbidden,
    );
    await expect(daemon.client.answer(conversationId, { answer: 'x' })).rejects.toMatchObject(forbidden);
    await agentClient(daemon.home, other.id).answer(conversationId, { answer: 'x' });
    // No agent may answer a question to the person.
    const toPerson = await askAs(daemon, asker, { person: true, question: 'may I?' });
    for (const each of [strange, agentClient(daemon.home, asker.id)]) {
      await expect(each.answer(toPerson.conversationId, { answer: 'yes' })).rejects.toMatchObject(forbidden);
      await expect(each.replyAgent(toPerson.conversationId, { answer: 'yes' }, randomUUID())).rejects.toMatchObject(
        forbidden,
      );
    }
    // A person's question is as good as an agent's.
    const { question } = await daemon.client.ask({ agent: other.id, question: 'how far are you?' }, randomUUID());
    expect(question.from.alias).toBe('root');
    await agentClient(daemon.home, other.id).answer(question.conversationId, { answer: 'nearly done' });
    expect((await daemon.client.showQuestion(question.conversationId.slice(0, 8))).question.answer).toBe('nearly done');
  });
});
