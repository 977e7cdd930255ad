import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join } from 'node:path';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';

const scriptedAgent = join(import.meta.dirname, '..', '..', '..', 'testing', 'src', 'scripted-agent', 'bin.ts');
/** A CLI that gives every conversation the same id. */
const twin = `cat > /dev/null; echo '{"type":"system","subtype":"init","session_id":"same-for-all"}'; sleep 1;
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"same-for-all"}'`;
let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({
    providers: {
      forgetful: { extends: 'scripted', resume: null, fork: null, fork_style: 'replay' },
      reader: {
        extends: 'scripted',
        command: [process.execPath, scriptedAgent, '-p', '--output-format', 'stream-json'],
        prompt_mode: 'stdin',
      },
      twin: { extends: 'generic', command: ['/bin/sh', '-c', twin], output_format: 'claude-stream-json' },
      impatient: { extends: 'scripted', silence: { notice_ms: 1_000, hang_ms: 12_000 } },
    },
  });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

test('an undelivered message is sent again with the next one, if the provider does not listen while it works [S3-56]', async () => {
  const gate = join(daemon.home.root, 'told');
  const busy = { shell: `until [ -e '${gate}' ]; do sleep 0.02; done` };
  const steps = [{ say: 'hello' }, 'complete', busy, 'complete', 'complete', 'complete'];
  const agent = await daemon.work(steps, { provider: 'reader' });
  await daemon.ended(agent.id);
  for (const message of ['the first thing', 'the second thing']) {
    expect(await daemon.client.tellAgent(agent.id, { message }, randomUUID())).toMatchObject({ channel: 'resumed' });
  }
  writeFileSync(gate, '');
  await daemon.ended(agent.id);
  const { sessions } = await daemon.client.inspectAgent(agent.id);
  const prompts = await Promise.all(sessions.map(({ directory }) => daemon.promptOf(directory)));
  const last = prompts.at(-1) ?? '';
  expect(last).toContain('the second thing');
  expect(last).toContain('the first thing');
});

test('two sessions that report the same conversation do not interfere [8.11]', async () => {
  const agents = await Promise.all([1, 2].map(() => daemon.work(undefined, { provider: 'twin' })));
  for (const { id } of agents)
    expect(await daemon.ended(id)).toMatchObject({ run: { status: 'completed', detail: 'done' }, session: { no: 1 } });
  const { events } = await daemon.client.events({ limit: 1000 });
  expect(events.filter(({ type }) => type === 'session.damaged')).toHaveLength(1);
});

const asks = { signal: { status: 'questions', questions: [{ id: 'db', question: 'Which database?' }] } };

describe('an agent whose provider cannot resume [5.2.16]', () => {
  test('gets a transcript in a new conversation, and the answers to its questions', async () => {
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

test('a silent session is shown as waiting for its provider, then ended and retried [W3-08]', async () => {
  const agent = await daemon.work([{ say: 'let me think' }, 'hang'], { provider: 'impatient' });
  const now = async () => viewOf(daemon.client, agent.id);
  await waitUntil(async () => (await now()).detail.startsWith('silent for '), { what: 'it to be shown as silent' });
  expect(await now()).toMatchObject({ activity: 'waiting_for_provider', run: { status: 'running' } });
  await waitUntil(async () => (await now()).session?.no === 2, { what: 'it to be tried again' });
  await daemon.client.stopAgent(agent.id);
  const { sessions } = await daemon.client.inspectAgent(agent.id);
  expect(sessions.map(({ purpose, conversation }) => [purpose, conversation])).toEqual([
    ['work', 'new'],
    ['retry', 'resume'],
  ]);
  const { events } = await daemon.client.events({ agent: agent.id, limit: 1000 });
  const story = events.map(({ type }) => type);
  expect(story.indexOf('session.silent')).toBeGreaterThan(story.indexOf('session.started'));
  expect(story.indexOf('run.waiting')).toBeGreaterThan(story.indexOf('session.silent'));
});

test('a running tool is not silence', async () => {
  const steps = [{ tool: { name: 'Build', result: 'built', takes: '14s' } }, { complete: { summary: 'built it' } }];
  const agent = await daemon.work(steps, { provider: 'impatient' });
  expect(await daemon.ended(agent.id)).toMatchObject({ run: { status: 'completed' }, session: { no: 1 } });
  const { events } = await daemon.client.events({ agent: agent.id, limit: 1000 });
  expect(events.map(({ type }) => type)).not.toContain('run.waiting');
});
