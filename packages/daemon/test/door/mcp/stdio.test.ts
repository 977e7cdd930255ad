import { toolsFor } from '@pawl/mcp/tools';
import { programs } from '@pawl/protocol/node/programs';
import { homeAt } from '@pawl/protocol/node/home';
import { sleepers } from '@pawl/testing/sleeper';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { sampleOf } from '@pawl/testing/endurance';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DaemonProcess } from '../../support/daemon-process.ts';
import { spawnDaemon } from '../../support/daemon-process.ts';
import type { TestDaemon } from '../../support/daemon.ts';
import { startTestDaemon } from '../../support/daemon.ts';
import { mcpOverStdio, revisions, tokenOf } from '../../support/mcp.ts';
import { outputText } from '../../support/output.ts';

describe('with a daemon', () => {
  let daemon: TestDaemon;
  let agentId: string;
  beforeAll(async () => {
    daemon = await startTestDaemon({ providers: { mine: { command: ['/opt/my-agent'] } } });
    ({ id: agentId } = await daemon.work(['hang']));
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
  });

  test.each(sampleOf(revisions, 1))('pawl mcp speaks %s, as the agent whose token it has', async (revision) => {
    await using mcp = await mcpOverStdio(daemon.home, agentId, revision);
    expect(mcp.client.getNegotiatedProtocolVersion()).toBe(revision);
    expect((await mcp.client.listTools()).tools).toHaveLength(18);
    expect(await mcp.call('whoami')).toMatchObject({ caller: 'agent', agent: { id: agentId } });
    const names = Array.from({ length: 20 }, (_, index) => `${revision} ${index}`);
    const added = await Promise.all(names.map((name) => mcp.call('task_add', { name })));
    expect(added.map(({ task }) => (task as { name: string }).name)).toEqual(names);
    expect(await mcp.call('roster')).toMatchObject({ others: [] });
  });

  test('without an agent’s token it acts as the person, and offers read-only tools and send', async () => {
    await using mcp = await mcpOverStdio(daemon.home, null, '2025-11-25', daemon.repository);
    const { tools } = await mcp.client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      'agents',
      'change_list',
      'change_show',
      'mail',
      'roster',
      'send',
      'whoami',
    ]);
    expect(await mcp.call('whoami')).toMatchObject({ caller: 'person' });
    expect(await mcp.call('roster')).toMatchObject({ others: [] });
    expect(await mcp.call('send', { all: true, body: 'to all of this project' })).toMatchObject({ sent: [{}] });
  });

  test.runIf(process.platform === 'linux')(
    'the person’s roster covers the current checkout, and knows providers of config.yaml',
    async () => {
      await using place = await temporaryDirectory('pawl-mcp');
      await using strangers = sleepers(place.path);
      mkdirSync(join(daemon.repository, 'deep'));
      const pid = await strangers.start('my-agent', daemon.repository);
      await using mcp = await mcpOverStdio(daemon.home, null, '2025-11-25', join(daemon.repository, 'deep'));
      const seen = { alone: false, others: [{ pid, provider: 'mine', cwd: daemon.repository }] };
      expect(await mcp.call('roster')).toMatchObject(seen);
      expect(await mcp.call('roster', { project: 'sample' })).toMatchObject(seen);
    },
  );

  test('an agent’s server without its token has no identity, and never the person’s', async () => {
    await using mcp = await mcpOverStdio(daemon.home, null, '2025-11-25', '/', ['--agent', agentId]);
    expect((await mcp.client.listTools()).tools).toHaveLength(toolsFor('agent').length);
    for (const tool of ['whoami', 'agents', 'listen'])
      expect(await mcp.failure(tool)).toMatchObject({ code: 'unauthorized' });
    expect(await mcp.failure('send', { to: agentId, body: 'as the user' })).toMatchObject({ code: 'unauthorized' });
  });

  test('a cancelled wait ends, and the connection continues', async () => {
    await using mcp = await mcpOverStdio(daemon.home, agentId);
    const leaving = new AbortController();
    const call = { name: 'listen', arguments: { timeout_seconds: 600 } };
    const given = expect(mcp.client.callTool(call, { signal: leaving.signal })).rejects.toThrow();
    await mcp.call('whoami');
    leaving.abort();
    await given;
    expect(await mcp.call('whoami')).toMatchObject({ agent: { id: agentId } });
  });

  test('invalid messages are skipped, stdout has only messages, and it exits with its client', async () => {
    const child = spawn(process.execPath, [programs.pawl, 'mcp'], {
      env: { PATH: process.env['PATH'], PAWL_HOME: daemon.home.root },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const lines = ['no json', '{"jsonrpc":', '[]', '7', '\0\u{1b}[2J', '{"jsonrpc":"2.0","id":0,"method":"ping"}'];
    const request = (id: number, method: string, params: object) =>
      JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const clientInfo = { name: 'raw', version: '1' };
    lines.push(request(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }));
    lines.push(request(2, 'tools/call', { name: 'whoami', arguments: {} }));
    child.stdin.write(`${lines.join('\n')}\n`);
    let printed = '';
    for await (const part of child.stdout.setEncoding('utf8')) {
      printed += part as string;
      if (printed.includes('"id":2')) break;
    }
    child.stdin.end();
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(0);
    const messages = printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { jsonrpc: string; id: number });
    expect(messages.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true);
    expect(messages.find(({ id }) => id === 2)).toMatchObject({ result: { structuredContent: { caller: 'person' } } });
  });
});

describe('without a daemon', () => {
  test('each call says so, and the connection works again when the daemon is back', async () => {
    await using place = await temporaryDirectory();
    const home = homeAt(join(place.path, 'home'));
    const start = async (): Promise<DaemonProcess> => {
      const daemon = spawnDaemon(home.root);
      await daemon.report;
      return daemon;
    };
    let daemon = await start();
    const { agent } = await daemon.client.whoami();
    await using mcp = await mcpOverStdio(home, agent.id);
    expect(await mcp.call('whoami')).toMatchObject({ agent: { id: agent.id } });
    await daemon.kill();
    const [gone, comingBack] = await Promise.all([mcp.failure('whoami'), mcp.failure('agents')]);
    expect(gone).toMatchObject({ code: 'daemon_unreachable', hint: expect.stringContaining('pawl up') as string });
    expect(comingBack).toMatchObject({ code: 'daemon_unreachable' });
    // A restarting daemon is waited for.
    const asked = mcp.call('whoami');
    daemon = await start();
    expect(await asked).toMatchObject({ agent: { id: agent.id } });
    await daemon.kill('SIGTERM');
  });
});

test('every session gets Pawl’s own server beside the person’s, and no token is written to disk', async () => {
  const search = { command: 'search', args: ['--all'], env: { KEY: 'a value' } };
  await using daemon = await startTestDaemon({
    choices: { mcpServers: { search } },
    providers: { shell: { extends: 'generic', mcp: { format: 'claude', arguments: ['env:MCP_FILE={file}'] } } },
  });
  const command = 'cat "$MCP_FILE"; echo; printenv PAWL_AGENT_ID; ls "$MCP_FILE"';
  const agent = await daemon.work(undefined, { provider: 'shell', options: { command } });
  await daemon.ended(agent.id);
  const [file = '', id, path = ''] = (await outputText(daemon.client, agent.id)).split('\n');
  expect(JSON.parse(file)).toEqual({
    mcpServers: {
      search,
      pawl: { command: join(daemon.home.bin, 'pawl'), args: ['mcp', '--agent', agent.id], env: {} },
    },
  });
  expect(id).toBe(agent.id);
  expect(file).not.toContain(tokenOf(daemon.home, agent.id));
  expect(statSync(path).mode & 0o777).toBe(0o600);
});
