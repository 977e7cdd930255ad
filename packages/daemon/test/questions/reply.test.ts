import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import { outputHas } from '../support/output.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const asks = (...questions: { id: string; question: string }[]) => ({ signal: { status: 'questions', questions } });
const database = { id: 'db', question: 'Which database?' };
const colour = { id: 'colour', question: 'Which colour?' };

async function asked(...questions: (typeof database)[]) {
  const agent = await daemon.work([asks(...questions), 'wait', 'echo_prompt', { complete: { summary: 'thanks' } }]);
  return daemon.ended(agent.id);
}

describe('an agent that asked', () => {
  test('waits, and continues with the answers in the same conversation [S3-33, S3-39…43]', async () => {
    const agent = await asked(database, colour);
    expect(agent).toMatchObject({ activity: 'waiting_for_input', detail: 'Which database?' });
    await daemon.client.replyAgent(agent.id, { answers: { db: 'SQLite', colour: 'red' } }, randomUUID());
    const ended = await daemon.ended(agent.id);
    expect(ended).toMatchObject({ run: { status: 'completed', detail: 'thanks' }, session: { no: 2 } });
    const { sessions } = await daemon.client.inspectAgent(agent.id);
    expect(sessions[1]).toMatchObject({ conversation: 'resume', providerSessionId: sessions[0]?.providerSessionId });
    const prompt = await daemon.promptOf(sessions[1]?.directory ?? '');
    for (const words of ['Which database?', 'SQLite', 'Which colour?', 'red']) expect(prompt).toContain(words);
    const { events } = await daemon.client.events({ agent: agent.id, limit: 1000 });
    expect(events.filter(({ type }) => type === 'agent.answered')).toHaveLength(1);
  });

  test('takes one text for its only question, once, however often it is sent [5.2.8]', async () => {
    const agent = await asked(database);
    const key = randomUUID();
    await Promise.all([1, 2].map(() => daemon.client.replyAgent(agent.id, { answer: 'SQLite' }, key)));
    expect(await daemon.ended(agent.id)).toMatchObject({ session: { no: 2 } });
  });

  test.each([
    [{ answer: 'SQLite' }, 'needs_input'],
    [{ answers: { db: 'SQLite' } }, 'needs_input'],
    [{ answers: { db: 'SQLite', colour: ' ' } }, 'needs_input'],
    [{ answers: { db: 'SQLite', colour: 'red', size: 'L' } }, 'invalid_input'],
  ])('is not answered by %j', async (body, code) => {
    const agent = await asked(database, colour);
    await expect(daemon.client.replyAgent(agent.id, body, randomUUID())).rejects.toMatchObject({ code });
    expect((await viewOf(daemon.client, agent.id)).activity).toBe('waiting_for_input');
  });
});

test('an agent without a question cannot be answered', async () => {
  const agent = await daemon.rested();
  await expect(daemon.client.replyAgent(agent.id, { answer: 'x' }, randomUUID())).rejects.toMatchObject({
    code: 'conflict',
  });
});

describe('a message to an agent [7.9]', () => {
  test('reaches the running process, if it listens [S3-56]', async () => {
    const gate = join(daemon.home.root, 'told');
    const busy = { shell: `until [ -e '${gate}' ]; do sleep 0.02; done` };
    const steps = [{ say: 'hello' }, busy, 'wait', 'echo_prompt', { complete: { summary: 'heard it' } }];
    const agent = await daemon.work(steps);
    await outputHas(daemon.client, agent.id, 'hello');
    const { channel } = await daemon.client.tellAgent(agent.id, { message: 'one thing more' }, randomUUID());
    expect(channel).toBe('live');
    writeFileSync(gate, '');
    expect(await daemon.ended(agent.id)).toMatchObject({
      run: { status: 'completed', detail: 'heard it' },
      session: { no: 1 },
    });
    const { messages } = await daemon.client.history(agent.id, {});
    expect(messages.filter(({ kind }) => kind === 'user').map(({ content }) => content)).toContain('one thing more');
  });

  test('starts another session of an idle agent, with the message as prompt [S3-56, S3-57]', async () => {
    const agent = await daemon.rested();
    const { channel } = await daemon.client.tellAgent(agent.id, { message: 'are you there?' }, randomUUID());
    expect(channel).toBe('resumed');
    expect(await daemon.ended(agent.id)).toMatchObject({ run: { task: 'are you there?' }, session: { no: 2 } });
  });

  test('is refused for the dead', async () => {
    const agent = await daemon.rested();
    await daemon.client.killAgent(agent.id, {});
    await expect(daemon.client.tellAgent(agent.id, { message: 'x' }, randomUUID())).rejects.toThrow();
  });
});
