import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { work } from '../../../src/command/agents/work.ts';
import { agentView } from '@pawl/testing/agent-view';
import { fakeDaemon, sendFailure, sendJson, sendStream } from '../fake-daemon.ts';

// The PATH goes along with requests; these tests are about the rest.
beforeEach(() => {
  vi.stubEnv('PATH', '');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const confinement = { sandbox: 'on' };
const agent = { id: 'the-id', alias: 'brave-otter', branch: 'work/brave-otter' };

describe('work', () => {
  test('a request whose response was lost is repeated with the same key, and answered once', async () => {
    const keys: unknown[] = [];
    await using daemon = await fakeDaemon(({ request, response }) => {
      keys.push(request.headers['idempotency-key']);
      if (keys.length < 3) request.socket.destroy();
      else sendJson(response, { agent, confinement });
    });
    expect(await work(daemon.context, ['fix', 'it'], { provider: 'scripted' })).toBe(0);
    expect(new Set(keys).size).toBe(1);
    expect(keys).toHaveLength(3);
    expect(daemon.printed).toEqual([{ kind: 'agent', data: { ...agent, confinement } }]);
  });

  test('it gives up after the third loss', async () => {
    await using daemon = await fakeDaemon(({ request }) => void request.socket.destroy());
    await expect(work(daemon.context, ['x'], { provider: 'scripted' })).rejects.toMatchObject({
      code: 'daemon_unreachable',
    });
    expect(daemon.requests).toHaveLength(3);
  });

  test('a refusal is not repeated', async () => {
    await using daemon = await fakeDaemon(({ response }) => {
      sendFailure(response, 'unknown_provider');
    });
    await expect(work(daemon.context, ['x'], { provider: 'y' })).rejects.toMatchObject({ code: 'unknown_provider' });
    expect(daemon.requests).toHaveLength(1);
  });

  test('with --follow it shows the output of the new agent', async () => {
    await using daemon = await fakeDaemon(({ request, response }) => {
      const completed = { ...agent, run: { status: 'completed', questions: null } };
      if (request.method === 'POST' || !request.url?.includes('output'))
        sendJson(response, { agent: completed, confinement });
      else sendStream(response, [{ event: 'ended', data: {} }]);
    });
    expect(await work(daemon.context, ['x'], { provider: 'scripted', follow: true })).toBe(0);
    expect(daemon.requests).toEqual([
      'POST /api/agents',
      'GET /api/agents/the-id/output?format=events',
      'GET /api/agents/the-id?worktree=false',
    ]);
  });

  test('the arguments are one task, and paths are made absolute [W4-13, W4-14]', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { agent, confinement }));
    const options = {
      provider: 'scripted',
      project: ['/shop/../shop'],
      scenario: '/a/b.yaml',
      name: 'calm-fox',
      option: { speed: 'high' },
    };
    await work(daemon.context, ['fix', 'the', 'test'], options);
    expect(daemon.bodies[0]).toEqual({
      path: '/shop',
      task: 'fix the test',
      provider: 'scripted',
      alias: 'calm-fox',
      options: { scenario: '/a/b.yaml', speed: 'high' },
    });
  });

  test('--branch, --repo and --push-to [W4-14]', async () => {
    await using daemon = await fakeDaemon(({ response }) =>
      sendJson(response, { agent: { alias: 'x', branch: null }, confinement }),
    );
    await work(daemon.context, ['x'], { repo: ['/shop'], branch: 'feature', pushTo: 'feature' });
    expect(daemon.bodies[0]).toMatchObject({
      path: '/shop',
      base: 'feature',
      task: expect.stringContaining('git push origin HEAD:refs/heads/feature'),
    });
    // git allows such a name; a shell must not run it.
    await work(daemon.context, ['x'], { branch: 'a', pushTo: '$(reboot)' });
    expect(daemon.bodies[1]).toMatchObject({
      task: expect.stringContaining("git push origin 'HEAD:refs/heads/$(reboot)'"),
    });
    for (const options of [{ pushTo: 'x' }, { branch: 'a', pushTo: 'a b' }, { branch: 'a', pushTo: '--force' }]) {
      await expect(work(daemon.context, ['x'], options)).rejects.toMatchObject({ code: 'usage' });
    }
  });

  test('omitted options are left to the daemon; --as names the definition', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { agent, confinement }));
    await work(daemon.context, ['x'], { project: ['/shop'] });
    await work(daemon.context, ['x'], { project: ['/shop'], as: 'reviewer' });
    expect(daemon.bodies).toEqual([
      { path: '/shop', task: 'x' },
      { path: '/shop', task: 'x', definition: 'reviewer' },
    ]);
  });

  test('the PATH of the shell is sent, cut at a whole directory if it is too long', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { agent, whenDone: null, confinement }));
    vi.stubEnv('PATH', '/opt/bin:/usr/bin');
    await work(daemon.context, ['x'], {});
    vi.stubEnv('PATH', `/opt/bin:/${'a'.repeat(8_000)}:/${'b'.repeat(8_000)}`);
    await work(daemon.context, ['x'], {});
    expect(daemon.bodies).toMatchObject([
      { searchPath: '/opt/bin:/usr/bin' },
      { searchPath: `/opt/bin:/${'a'.repeat(8_000)}` },
    ]);
  });

  test('says where the work will be, and what happens when it is done', async () => {
    const whenDone = { outcome: 'checked', text: 'its branch is checked' };
    const baseNote = 'it starts from origin/main, without 1 commit';
    const answer = { agent: agentView(), whenDone, baseNote, confinement };
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json: false });
    await work(daemon.context, ['x'], {});
    expect(daemon.texts[0]).toContain('brave-otter is at work on work/brave-otter');
    expect(daemon.texts[0]).toContain('\nwhen it is done: its branch is checked');
    expect(daemon.texts[0]).toContain('\naccess: full, in a sandbox');
    expect(daemon.said).toContain(baseNote);
    await using other = await fakeDaemon(({ response }) => sendJson(response, answer));
    await work(other.context, ['x'], {});
    expect(other.printed).toMatchObject([{ kind: 'agent', data: { alias: 'brave-otter', whenDone } }]);
  });

  test('says on its own line that there is no sandbox, and why', async () => {
    const none = { sandbox: 'missing', reason: 'bwrap is not installed.', hint: 'Install it.' };
    const answer = { agent: agentView({ access: 'ask' }), whenDone: null, baseNote: null, confinement: none };
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json: false });
    await work(daemon.context, ['x'], {});
    expect(daemon.said).toEqual(['access: ask, and no sandbox. bwrap is not installed. Install it.']);
    expect(daemon.texts[0]).not.toContain('sandbox');
  });
});
