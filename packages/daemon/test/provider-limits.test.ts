import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestDaemon } from './support/daemon.ts';
import { startTestDaemon } from './support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({
    providers: {
      forgetful: { extends: 'scripted', resume: null, fork: null, fork_style: 'replay' },
      impatient: { extends: 'scripted', silence: { notice_ms: 1_000, hang_ms: 5_000 } },
    },
  });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const asks = { signal: { status: 'questions', questions: [{ id: 'db', question: 'Which database?' }] } };

describe('5.2.16: an agent whose provider cannot resume', () => {
  test('is told in a new conversation what was said before, and the answers to its questions', async () => {
    const agent = await daemon.work([{ say: 'I have looked around' }, asks], { provider: 'forgetful' });
    expect(await daemon.ended(agent.id)).toMatchObject({ activity: 'waiting_for_input' });
    await daemon.client.replyAgent(agent.id, { answer: 'SQLite' }, randomUUID());
    await daemon.ended(agent.id);
    const { sessions } = await daemon.client.inspectAgent(agent.id);
    expect(sessions.map(({ no, conversation }) => [no, conversation])).toEqual([
      [1, 'new'],
      [2, 'replay'],
    ]);
    expect(sessions[1]?.providerSessionId).not.toBe(sessions[0]?.providerSessionId);
    const prompt = await daemon.promptOf(sessions[1]?.directory ?? '');
    for (const words of ['I have looked around', 'Which database?', 'SQLite']) expect(prompt).toContain(words);
  });

  test('is asked neither for its signal nor to commit: its result counts, and its work stays', async () => {
    const silent = await daemon.work([{ say: 'that was it' }], { provider: 'forgetful' });
    expect(await daemon.ended(silent.id)).toMatchObject({
      run: { status: 'completed', detail: 'that was it' },
      session: { no: 1 },
    });
    const edit = { shell: 'echo changed >> README.md' };
    const untidy = await daemon.work([edit, { complete: { summary: 'changed it' } }], { provider: 'forgetful' });
    expect(await daemon.ended(untidy.id)).toMatchObject({ run: { status: 'completed' }, session: { no: 1 } });
    expect((await daemon.client.inspectAgent(untidy.id)).worktree).toMatchObject({ exists: true, changed: 1 });
  });
});

test('W3-08: a session that falls silent is shown to wait for its provider, then ended and tried again', async () => {
  const sleepsOnce = { shell: 'test -e slept || { touch slept; sleep 60; }' };
  const steps = [{ say: 'let me think' }, sleepsOnce, { complete: { summary: 'awake again' } }];
  const agent = await daemon.work(steps, { provider: 'impatient' });
  await waitUntil(async () => (await daemon.client.inspectAgent(agent.id)).agent.activity === 'waiting_for_provider', {
    what: 'it to be shown as waiting',
  });
  expect((await daemon.client.inspectAgent(agent.id)).agent).toMatchObject({
    run: { status: 'running' },
    detail: expect.stringMatching(/^silent for \d+ s$/),
  });
  expect(await daemon.ended(agent.id)).toMatchObject({ run: { status: 'completed', detail: 'awake again' } });
  const { sessions } = await daemon.client.inspectAgent(agent.id);
  expect(sessions.map(({ purpose, endReason }) => [purpose, endReason])).toEqual([
    ['work', 'error'],
    ['retry', 'exited'],
  ]);
  const { events } = await daemon.client.events({ agent: agent.id, limit: 1000 });
  const story = events.map(({ type }) => type);
  expect(story.filter((type) => type === 'session.silent')).toHaveLength(1);
  expect(story.indexOf('run.waiting')).toBeGreaterThan(story.indexOf('session.silent'));
});
