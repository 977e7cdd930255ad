import { resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fork } from '../../../src/command/agents/fork.ts';
import { agentView, idOf, root } from '@pawl/testing/agent-view';
import { fakeDaemon, sendFailure, sendJson } from '../fake-daemon.ts';
import type { Exchange } from '../fake-daemon.ts';

// The PATH goes along with requests; these tests are about the rest.
beforeEach(() => {
  vi.stubEnv('PATH', '');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const child = agentView({ id: idOf(2), alias: 'calm-fox', parentId: idOf(1) });
const parent = agentView();
const nobody = { parent: null, previous: null, next: null, child: null, draft: { input: '', scroll: 0 } };
const here = resolve('.');

/** Answers a fork with the child, and the selection with the agent that the person acts as. */
function forking(current = parent, above: { id: string; alias: string } | null = null) {
  return ({ url, response }: Exchange) =>
    sendJson(response, url.pathname === '/api/desk' ? { ...nobody, current, parent: above } : { agent: child });
}

describe('fork', () => {
  test('without a prompt it forks the current agent, and both wait for input [S1-13]', async () => {
    await using daemon = await fakeDaemon(forking(child, parent), { json: false });
    expect(await fork(daemon.context, [], {})).toBe(0);
    expect(daemon.requests[0]).toBe('POST /api/agents/%40current/fork');
    expect(daemon.bodies[0]).toEqual({ path: here, wait: false });
    expect(daemon.texts[0]).toContain('calm-fox forked off brave-otter; it waits for your prompt on work/calm-fox');
  });

  test('a prompt becomes the first message of the child [S1-14]', async () => {
    await using daemon = await fakeDaemon(forking(), { json: false });
    await fork(daemon.context, ['brave-otter', 'fix it'], {});
    expect(daemon.requests[0]).toBe('POST /api/agents/brave-otter/fork');
    expect(daemon.bodies[0]).toEqual({ path: here, wait: false, prompt: 'fix it' });
    expect(daemon.texts[0]).toContain('calm-fox forked off brave-otter; it is working');
  });

  test('the person stays, unless --switch was given, and is told when they act as the child [S1-16]', async () => {
    await using switched = await fakeDaemon(forking(child, parent), { json: false });
    await fork(switched.context, [], { switch: true });
    expect(switched.bodies[0]).toMatchObject({ switch: true });
    expect(switched.texts[0]).toContain('\nyou are now calm-fox');
    await using stayed = await fakeDaemon(forking(parent, root), { json: false });
    await fork(stayed.context, [], { switch: false });
    expect(stayed.bodies[0]).toMatchObject({ switch: false });
    expect(stayed.texts[0]).not.toContain('you are now');
    await using unsaid = await fakeDaemon(forking(parent, root), { json: false });
    await fork(unsaid.context, [], {});
    expect(unsaid.bodies[0]).not.toHaveProperty('switch');
  });

  test('every option is sent, and paths are made absolute', async () => {
    await using daemon = await fakeDaemon(forking());
    const options = { model: 'big/high', name: 'calm-fox', withFiles: true, provider: 'scripted' };
    await fork(daemon.context, [], { ...options, prompt: 'go', project: '/shop/../shop', scenario: '/a/./b.yaml' });
    expect(daemon.bodies).toEqual([
      {
        path: process.cwd(),
        project: '/shop',
        prompt: 'go',
        model: 'big/high',
        alias: 'calm-fox',
        withFiles: true,
        provider: 'scripted',
        options: { scenario: '/a/b.yaml' },
        wait: false,
      },
    ]);
    expect(daemon.printed).toEqual([{ kind: 'agent', data: child }]);
  });

  test('an agent may fork itself although it may not read the selection', async () => {
    await using daemon = await fakeDaemon(
      ({ url, response }) => {
        if (url.pathname === '/api/desk') sendFailure(response, 'forbidden');
        else sendJson(response, { agent: child });
      },
      { json: false },
    );
    expect(await fork(daemon.context, [], { prompt: 'go' })).toBe(0);
    expect(daemon.texts[0]).toContain('calm-fox forked off you');
  });
});

describe('obstacles', () => {
  test('a busy parent is waited for, under the same key, after saying why [W1-05]', async () => {
    const keys: unknown[] = [];
    await using daemon = await fakeDaemon(({ request, response, body }) => {
      keys.push(request.headers['idempotency-key']);
      if ((body as { wait: boolean }).wait) sendJson(response, { agent: child });
      else sendFailure(response, 'busy', 'brave-otter runs a tool: Bash\u001B[2J');
    });
    expect(await fork(daemon.context, [], {})).toBe(0);
    expect(daemon.said).toEqual(['waiting: brave-otter runs a tool: Bash']);
    expect(daemon.bodies).toEqual([
      { path: here, wait: false },
      { path: here, wait: true },
    ]);
    expect(keys[0]).toMatch(/.{8,}/);
    expect(new Set(keys).size).toBe(1);
  });

  test('lost responses, before and during the wait, create one child', async () => {
    const keys: unknown[] = [];
    await using daemon = await fakeDaemon(({ request, response, body }) => {
      keys.push(request.headers['idempotency-key']);
      if (keys.length === 1 || keys.length === 3) request.socket.destroy();
      else if ((body as { wait: boolean }).wait) sendJson(response, { agent: child });
      else sendFailure(response, 'busy');
    });
    expect(await fork(daemon.context, [], {})).toBe(0);
    expect(daemon.bodies.map((body) => (body as { wait: boolean }).wait)).toEqual([false, false, true, true]);
    expect(new Set(keys).size).toBe(1);
  });

  test('another refusal is not waited for', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendFailure(response, 'conflict'));
    await expect(fork(daemon.context, [], {})).rejects.toMatchObject({ code: 'conflict' });
    expect(daemon.requests).toHaveLength(1);
    expect(daemon.said).toEqual([]);
  });

  test('a word that is not an agent may have been meant as a prompt [W1-04]', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendFailure(response, 'agent_not_found'));
    await expect(fork(daemon.context, ['refactor'], {})).rejects.toMatchObject({
      code: 'agent_not_found',
      message: expect.stringContaining('needs --prompt') as string,
    });
    await expect(fork(daemon.context, ['refactor'], { prompt: 'go' })).rejects.toMatchObject({
      message: 'agent_not_found',
    });
  });

  test('invalid arguments are refused before any request [W1-04]', async () => {
    await using daemon = await fakeDaemon(forking());
    await expect(fork(daemon.context, ['a', 'b', 'c'], {})).rejects.toMatchObject({ code: 'usage' });
    expect(daemon.requests).toEqual([]);
  });
});
