import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { expect, test } from 'vitest';
import type { McpServer } from '../src/mcp.ts';
import { describeServers } from '../src/mcp.ts';
import { splitWords } from '../src/words.ts';

const servers: Record<string, McpServer> = {
  files: { command: '/bin/serve', args: ['a "b"', '--x'], env: { TOKEN: "it's hidden" } },
  plain: { command: 'serve', args: [], env: {} },
  web: { url: 'https://tools.example/mcp', headers: { Authorization: 'Bearer hidden', 'X-Two': 'also hidden' } },
};

function describeIn(format: Parameters<typeof describeServers>[0], given = servers) {
  const files: Record<string, string> = {};
  const described = describeServers(format, given, (path, content) => {
    files[path] = content;
    return `/session/${path}`;
  });
  return { ...described, files };
}

test('in Claude’s form they are a file', () => {
  const { words, env, files } = describeIn({ format: 'claude', arguments: ['--mcp-config', '@{file}'] });
  expect(words).toEqual(['--mcp-config', '@/session/mcp.json']);
  expect(env).toEqual({});
  expect(JSON.parse(files['mcp.json'] ?? '')).toEqual({
    mcpServers: { ...servers, web: { type: 'http', ...servers['web'] } },
  });
});

test('for codex they are arguments, without possible secrets', () => {
  const { words, env, files } = describeIn({ format: 'codex' });
  const sh = String.raw`args=["-c",". \"$0\"; exec \"$@\"","/session/mcp-files.env","/bin/serve","a \"b\"","--x"]`;
  expect(words).toEqual([
    '-c',
    `mcp_servers.files={"command"="/bin/sh",${sh.replace('args', '"args"')}}`,
    '-c',
    'mcp_servers.plain={"command"="serve","args"=[]}',
    '-c',
    'mcp_servers.web={"url"="https://tools.example/mcp","env_http_headers"={"Authorization"="PAWL_MCP_HEADER_1","X-Two"="PAWL_MCP_HEADER_2"}}',
  ]);
  expect(words.join(' ')).not.toContain('hidden');
  expect(env).toEqual({ PAWL_MCP_HEADER_1: 'Bearer hidden', PAWL_MCP_HEADER_2: 'also hidden' });
  expect(Object.keys(files)).toEqual(['mcp-files.env']);
});

test('servers that codex starts get their variables unchanged', async () => {
  await using place = await temporaryDirectory();
  const value = `a'b "c" $HOME \`d\`\n\\e`;
  const { files } = describeIn({ format: 'codex' }, { one: { command: 'x', args: [], env: { VALUE: value } } });
  const file = join(place.path, 'one.env');
  writeFileSync(file, files['mcp-one.env'] ?? '');
  const words = ['-c', '. "$0"; exec "$@"', file, '/usr/bin/env', 'printenv', 'VALUE'];
  expect(execFileSync('/bin/sh', words, { encoding: 'utf8' })).toBe(`${value}\n`);
});

test('for gemini and opencode they are settings, which a variable names or holds', () => {
  const gemini = describeIn({ format: 'gemini', variable: 'G', settings: { telemetry: false } });
  expect(gemini.env).toEqual({ G: '/session/gemini-settings.json' });
  expect(JSON.parse(gemini.files['gemini-settings.json'] ?? '')).toMatchObject({
    telemetry: false,
    mcpServers: { web: { httpUrl: 'https://tools.example/mcp' }, plain: { command: 'serve' } },
  });
  const opencode = describeIn({ format: 'opencode', variable: 'O' });
  expect(JSON.parse(opencode.env['O'] ?? '')).toMatchObject({
    mcp: {
      files: { type: 'local', command: ['/bin/serve', 'a "b"', '--x'], environment: { TOKEN: "it's hidden" } },
      web: { type: 'remote', url: 'https://tools.example/mcp', enabled: true },
    },
  });
});

test('variables that a server shares with its session are passed on, named or filled in by the CLI; seldom written', () => {
  const inherit = { PAWL_HOME: '/home', PAWL_AGENT_TOKEN: 'a secret' };
  const plain = { command: '/bin/pawl', args: ['mcp'], env: {} };
  const inForm = (format: Parameters<typeof describeServers>[0]) => {
    const { words, env, files } = describeIn(format, { pawl: { ...plain, inherit } });
    const [file] = Object.values(files);
    return { words, env, said: file === undefined ? null : (JSON.parse(file) as { mcpServers: object }).mcpServers };
  };
  const placeholders = { PAWL_HOME: '${PAWL_HOME}', PAWL_AGENT_TOKEN: '${PAWL_AGENT_TOKEN}' };
  const names = Object.keys(inherit);
  expect(inForm({ format: 'claude', arguments: [] }).said).toEqual({ pawl: plain });
  expect(inForm({ format: 'claude', arguments: [], variables: 'named' }).said).toEqual({
    pawl: { ...plain, env_vars: names },
  });
  expect(inForm({ format: 'claude', arguments: [], variables: 'written' }).said).toEqual({
    pawl: { ...plain, env: inherit },
  });
  expect(inForm({ format: 'copilot', arguments: [] }).said).toEqual({
    pawl: { ...plain, type: 'local', env: placeholders, tools: ['*'] },
  });
  expect(inForm({ format: 'gemini', variable: 'G' }).said).toEqual({ pawl: { ...plain, env: placeholders } });
  expect(inForm({ format: 'codex' })).toMatchObject({
    words: [
      '-c',
      'mcp_servers.pawl={"command"="/bin/pawl","args"=["mcp"],"env_vars"=["PAWL_HOME","PAWL_AGENT_TOKEN"]}',
    ],
    said: null,
  });
  expect(JSON.parse(inForm({ format: 'opencode', variable: 'O' }).env['O'] ?? '')).toEqual({
    mcp: { pawl: { type: 'local', command: ['/bin/pawl', 'mcp'], environment: {}, enabled: true } },
  });
});

test('a file may be named by a variable, too', () => {
  const { words } = describeIn({ format: 'claude', arguments: ['env:MCP_FILE={file}'] });
  expect(splitWords(words)).toEqual({ args: [], env: { MCP_FILE: '/session/mcp.json' } });
});

test.each([
  null,
  { format: 'claude', arguments: ['--mcp-config', '{file}'] },
  { format: 'codex' },
  { format: 'opencode', variable: 'O' },
] as const)('without servers, %j adds nothing', (format) => {
  const given = format?.format === 'claude' ? { ...format, arguments: [...format.arguments] } : format;
  expect(describeIn(given, {})).toEqual({ words: [], env: {}, files: {} });
});
