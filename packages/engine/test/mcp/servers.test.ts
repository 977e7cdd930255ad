import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { waitUntil } from '@pawl/testing/wait-until';
import { describe, expect, it } from 'vitest';
import { readProjectServers, readServers } from '../../src/mcp/server-config.ts';
import type { ServerConfig } from '../../src/mcp/server-config.ts';
import { Servers } from '../../src/mcp/servers.ts';
import { prepareCall } from '../../src/tools/tool-set.ts';
import type { Tool, ToolOutcome } from '../../src/tools/tool.ts';
import type { Workspace } from '../support/workspace.ts';
import { openWorkspace } from '../support/workspace.ts';

const program = join(import.meta.dirname, '../support/mcp-server.mjs');

function stdio(...args: string[]): ServerConfig {
  return { command: process.execPath, args: [program, ...args], env: { OWN: 'yes' } };
}

type Scene = { space: Workspace; tools: Tool[]; problems: string[]; call: Call } & AsyncDisposable;
type Call = (name: string, input?: object) => Promise<ToolOutcome>;

async function openScene(configs: Record<string, ServerConfig>): Promise<Scene> {
  const space = await openWorkspace();
  const problems: string[] = [];
  const env = { PATH: process.env['PATH'] };
  const servers = new Servers(configs, {
    cwd: space.root,
    env,
    token: 'secret',
    report: (text) => problems.push(text),
  });
  const tools = await servers.tools(space.stop.signal);
  return {
    space,
    tools,
    problems,
    async call(name, input = {}) {
      const prepared = prepareCall(tools, `mcp__t__${name}`, input);
      return 'problem' in prepared ? { text: prepared.problem, isError: true } : prepared.run(space.context);
    },
    async [Symbol.asyncDispose]() {
      await servers.close();
      await space[Symbol.asyncDispose]();
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('an MCP server on stdin and stdout', () => {
  it('offers its tools under names that every vendor takes, and answers', async () => {
    await using scene = await openScene({ t: stdio() });
    expect(scene.problems).toEqual([]);
    expect(scene.tools.map(({ name }) => name).slice(0, 3)).toEqual(['mcp__t__echo', 'mcp__t__env', 'mcp__t__die']);
    expect(scene.tools).toHaveLength(8);
    for (const { name } of scene.tools) expect(name).toMatch(/^[\w-]{1,64}$/);
    expect(await scene.call('echo', { text: 'it' })).toEqual({ text: 'heard it', isError: false });
    expect(await scene.call('ask')).toMatchObject({ text: 'answer: -32601' });
    expect((await scene.call('image')).images).toMatchObject([{ mediaType: 'image/png', base64: 'aGk=' }]);
    const odd = scene.tools.at(-1)?.name ?? '';
    const prepared = prepareCall(scene.tools, odd, {});
    if ('problem' in prepared) throw new Error(prepared.problem);
    expect((await prepared.run(scene.space.context)).text).toContain('no tool a tool with a very long');
  });

  it("gets its own variables, and neither keys nor the agent's token", async () => {
    await using scene = await openScene({ t: stdio() });
    const { text } = await scene.call('env');
    expect(JSON.parse(text)).toMatchObject({ OWN: 'yes' });
    expect(text).not.toContain('secret');
  });

  it('is started again after it died, a few times; the call that died is not repeated', async () => {
    await using scene = await openScene({ t: stdio('plain', '/dev/null') });
    for (let life = 0; life < 3; life++) {
      expect(await scene.call('die')).toMatchObject({
        isError: true,
        text: expect.stringContaining('ended by SIGKILL'),
      });
      expect(await scene.call('echo', { text: 'again' })).toMatchObject({ text: 'heard again' });
    }
    await scene.call('die');
    expect((await scene.call('echo', { text: 'again' })).text).toContain('not started again');
  });

  it('that floods is ended', async () => {
    await using scene = await openScene({ t: stdio() });
    expect((await scene.call('flood')).text).toContain('a line of more than');
  });

  it('is told when the turn stops, and ends with the session', async () => {
    await using outer = await openWorkspace();
    const file = join(outer.root, 'note');
    const pid = await (async () => {
      await using scene = await openScene({ t: stdio('plain', file) });
      const waiting = scene.call('wait');
      scene.space.stop.abort(new Error('stopped'));
      await expect(waiting).rejects.toThrow('stopped');
      await waitUntil(async () => (await readFile(file, 'utf8')).includes('cancelled'), { what: 'the cancellation' });
      return Number.parseInt(await readFile(file, 'utf8'), 10);
    })();
    expect(isAlive(pid)).toBe(false);
  });

  it('that cannot be used is reported, and the others work', async () => {
    const missing = { command: '/no/such/program', args: [], env: {} };
    await using scene = await openScene({ gone: missing, dead: stdio('dies-at-once'), t: stdio() });
    expect(scene.problems.join('\n')).toMatch(/gone cannot be used: It could not be started/);
    expect(scene.problems.join('\n')).toMatch(/dead cannot be used: .*no such database/);
    expect(scene.tools.every(({ name }) => name.startsWith('mcp__t__'))).toBe(true);
  });
});

describe('an MCP server over HTTP', () => {
  it('answers as JSON or as events, keeps its session, and an error is a result', async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { id, method } = JSON.parse(body) as { id?: number; method: string };
        seen.push(`${method} ${String(request.headers['mcp-session-id'])} ${String(request.headers['x-key'])}`);
        if (id === undefined) return void response.writeHead(202).end();
        const results: Record<string, object> = {
          initialize: { protocolVersion: '2025-06-18', capabilities: {} },
          'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
          'tools/call': { content: [{ type: 'text', text: 'over events' }] },
        };
        const answer = JSON.stringify({ jsonrpc: '2.0', id, result: results[method] });
        if (method !== 'tools/call') {
          response.setHeader('mcp-session-id', 'abc').setHeader('content-type', 'application/json').end(answer);
        } else if (seen.length > 4) response.writeHead(500).end('out of order');
        else {
          response.setHeader('content-type', 'text/event-stream');
          response.end(`event: message\r\ndata: {"method":"notifications/progress"}\r\n\r\ndata: ${answer}\r\n\r\n`);
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    {
      await using scene = await openScene({ t: { url, headers: { 'x-key': 'k' } } });
      expect(await scene.call('echo')).toEqual({ text: 'over events', isError: false });
      expect(seen.toSorted()).toEqual([
        'initialize undefined k',
        'notifications/initialized abc k',
        'tools/call abc k',
        'tools/list abc k',
      ]);
      expect(await scene.call('echo')).toMatchObject({ isError: true, text: expect.stringContaining('status 500') });
    }
    server.close();
  });
});

describe('the file with servers', () => {
  it('is refused with a reason if it is malformed', async () => {
    await using space = await openWorkspace();
    const file = join(space.root, 'mcp.json');
    for (const text of [
      '',
      '{',
      '[]',
      '{"mcpServers":{"a b":{"command":"x"}}}',
      '{"mcpServers":{"a":{"url":"file:///x"}}}',
    ]) {
      await writeFile(file, text);
      expect(() => readServers(file)).toThrow('cannot be read');
    }
    await writeFile(file, '{"mcpServers":{"a":{"type":"stdio","command":"x"}}}');
    expect(readServers(file)).toEqual({ a: { command: 'x', args: [], env: {} } });
  });
});

describe('the MCP servers of a repository', () => {
  it('have their variables filled in, and never the daemon’s socket', async () => {
    await using space = await openWorkspace();
    const path = join(space.root, '.mcp.json');
    const problems: string[] = [];
    const read = () => readProjectServers(path, { HOST: 'example.org' }, (problem) => problems.push(problem));
    expect(read()).toEqual({});
    const mcpServers = {
      docs: { type: 'http', url: 'https://${HOST}/mcp', headers: { authorization: 'Bearer ${NONE}' } },
      tool: { command: '${NODE:-node}', args: ['x.mjs'] },
      pawl: { socket: '/run/pawl.sock' },
    };
    await writeFile(path, JSON.stringify({ mcpServers }));
    expect(read()).toEqual({
      docs: { url: 'https://example.org/mcp', headers: { authorization: 'Bearer ${NONE}' } },
      tool: { command: 'node', args: ['x.mjs'], env: {} },
    });
    expect(problems).toEqual([]);
    await writeFile(path, '{"mcpServers": 3}');
    expect(read()).toEqual({});
    expect(problems).toEqual([expect.stringContaining('cannot be read')]);
  });
});
