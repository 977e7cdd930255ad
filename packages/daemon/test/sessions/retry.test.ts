import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import { waitUntil } from '@pawl/testing/wait-until';
import { git } from '@pawl/testing/sample-repository';
import { randomUUID } from 'node:crypto';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const overloaded = { fail: { status: 529, text: 'API Error: 529 Overloaded' } };

async function story(agentId: string): Promise<string[]> {
  return (await daemon.client.events({ agent: agentId, limit: 1000 })).events.map((event) => event.type);
}

describe('an error of the provider', () => {
  test('that passes is retried in the same worktree, with the conversation kept [W3-08, S3-72]', async () => {
    const agent = await daemon.work([{ say: 'one' }, overloaded, 'recall', { complete: { summary: 'at last' } }]);
    const ended = await daemon.ended(agent.id);
    expect(ended).toMatchObject({ run: { status: 'completed', detail: 'at last' }, session: { no: 2 } });
    const { sessions } = await daemon.client.inspectAgent(agent.id);
    expect(sessions.map(({ no, purpose, conversation, endReason }) => [no, purpose, conversation, endReason])).toEqual([
      [1, 'work', 'new', 'error'],
      [2, 'retry', 'resume', 'exited'],
    ]);
    expect(sessions[1]?.providerSessionId).toBe(sessions[0]?.providerSessionId);
    expect(await story(agent.id)).toContain('run.waiting');
  });

  test('is shown while waiting, and a stop ends the wait', async () => {
    const agent = await daemon.work([overloaded, overloaded, overloaded, 'complete']);
    const waiting = await waitUntil(
      async () => {
        const view = await viewOf(daemon.client, agent.id);
        return view.activity === 'waiting_for_provider' ? view : null;
      },
      { what: 'it to wait' },
    );
    expect(waiting).toMatchObject({ run: { status: 'running' }, detail: 'API Error: 529 Overloaded' });
    await daemon.client.stopAgent(agent.id);
    expect(await viewOf(daemon.client, agent.id)).toMatchObject({
      activity: 'stopped',
      run: { status: 'cancelled' },
    });
  });

  test('that is permanent ends the run at once', async () => {
    const agent = await daemon.work([{ fail: { status: 400, text: 'API Error: 400 prompt is too long' } }, 'complete']);
    expect(await daemon.ended(agent.id)).toMatchObject({
      activity: 'crashed',
      run: { status: 'failed', detail: 'API Error: 400 prompt is too long' },
      session: { no: 1 },
    });
  });
});

describe('a usage limit without an account', () => {
  test('with a known end is visibly waited for, and the run continues then [5.2.11]', async () => {
    const agent = await daemon.work([{ limit: { until: '10s' } }, { complete: { summary: 'after the limit' } }]);
    await waitUntil(async () => (await viewOf(daemon.client, agent.id)).activity === 'exhausted', {
      what: 'it to be exhausted',
    });
    const { agent: waiting } = await daemon.client.inspectAgent(agent.id);
    expect(waiting.exhaustedUntil).toBeGreaterThan(Date.now() - 1_000);
    expect(await daemon.ended(agent.id)).toMatchObject({ run: { status: 'completed', detail: 'after the limit' } });
    expect(await story(agent.id)).toEqual(expect.arrayContaining(['agent.exhausted', 'run.waiting']));
  });

  test('that should be over, and is not, is waited for a while longer, not retried in a loop', async () => {
    const agent = await daemon.work([{ limit: { until: '2020-01-01T00:00:00Z' } }, 'complete']);
    await waitUntil(async () => (await viewOf(daemon.client, agent.id)).activity === 'exhausted', {
      what: 'it to be exhausted',
    });
    const { agent: waiting } = await daemon.client.inspectAgent(agent.id);
    expect(waiting).toMatchObject({ session: { no: 1 }, run: { status: 'running' } });
    expect(waiting.exhaustedUntil).toBeGreaterThan(Date.now() + 30_000);
    await daemon.client.stopAgent(agent.id);
  });

  test('without a known end fails the run, which a person may resume', async () => {
    const agent = await daemon.work(['limit', 'complete']);
    expect(await daemon.ended(agent.id)).toMatchObject({ activity: 'exhausted', run: { status: 'failed' } });
  });
});

describe('uncommitted work', () => {
  const edit = { shell: 'echo changed >> README.md' };

  test('is requested once, and then committed [S3-63…68]', async () => {
    const agent = await daemon.work([
      edit,
      { complete: { summary: 'changed it' } },
      { shell: 'git -c user.name=a -c user.email=a@b commit -qam "what was left"' },
      { complete: { summary: 'committed' } },
    ]);
    const ended = await daemon.ended(agent.id);
    expect(ended).toMatchObject({ run: { status: 'completed', detail: 'changed it' }, session: { no: 2 } });
    const { sessions } = await daemon.client.inspectAgent(agent.id);
    expect(sessions.map(({ purpose }) => purpose)).toEqual(['work', 'commit']);
    const prompt = await daemon.promptOf(sessions[1]?.directory ?? '');
    expect(prompt).toContain('git add -u');
    expect(prompt).toContain(agent.worktree);
    expect(await git(daemon.repository, ['log', '-1', '--format=%s', `work/${agent.alias}`])).toBe('what was left');
  });

  test('stays if the request did not help [S3-68, 5.2.9]', async () => {
    const agent = await daemon.work([edit, { complete: { summary: 'changed it' } }, { complete: { summary: 'no' } }]);
    const ended = await daemon.ended(agent.id);
    expect(ended).toMatchObject({ run: { status: 'completed', detail: 'changed it' }, session: { no: 2 } });
    const { worktree } = await daemon.client.inspectAgent(agent.id);
    expect(worktree).toMatchObject({ exists: true, changed: 1 });
  });

  test('is requested again in the next run, and once in each [S3-69]', async () => {
    const agent = await daemon.work([edit, 'complete', 'complete', edit, 'complete', 'complete']);
    await daemon.ended(agent.id);
    await daemon.client.resumeAgent(agent.id, { prompt: 'once more' }, randomUUID());
    await daemon.ended(agent.id);
    const { sessions } = await daemon.client.inspectAgent(agent.id);
    expect(sessions.map(({ purpose }) => purpose)).toEqual(['work', 'commit', 'work', 'commit']);
  });

  test('is not requested for untracked files only [5.2.9]', async () => {
    const agent = await daemon.work([{ write: { path: 'new.txt', content: 'x' } }, { complete: { summary: 'ok' } }]);
    expect(await daemon.ended(agent.id)).toMatchObject({ run: { status: 'completed' }, session: { no: 1 } });
  });
});
