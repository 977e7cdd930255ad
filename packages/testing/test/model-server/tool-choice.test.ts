import { describe, expect, test } from 'vitest';
import { anthropic } from '../../src/model-server/api/anthropic.ts';
import { directoryIn, standingOf, withoutInjected } from '../../src/model-server/conversation.ts';
import { pollFor } from '../../src/model-server/poll.ts';
import { fillSchema } from '../../src/model-server/schema-fill.ts';
import { mcpCall, namedCall, shellCall, writeCall } from '../../src/model-server/tool-choice.ts';

const object = (properties: Record<string, unknown>, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
});
const string = { type: 'string' };

describe('the shell', () => {
  test.each([
    ['Bash', object({ command: string }), { command: 'ls' }],
    ['shell', object({ command: { type: 'array', items: string } }), { command: ['bash', '-lc', 'ls'] }],
    [
      'exec_command',
      object({ cmd: string, yield_time_ms: { type: 'number' } }, ['cmd']),
      { cmd: 'ls', yield_time_ms: 30_000 },
    ],
    [
      'shell_command',
      object({ command: string, timeout_ms: { type: 'number' } }, ['command']),
      { command: 'ls', timeout_ms: 600_000 },
    ],
    [
      'run_shell_command',
      {
        type: 'OBJECT',
        properties: { command: { type: 'STRING' }, is_background: { type: 'BOOLEAN' } },
        required: ['command', 'is_background'],
      },
      { command: 'ls', is_background: false },
    ],
    ['console', object({ script: string, why: string }), { script: 'ls', why: 'scripted why' }],
  ])('%s is called by its own schema', (name, schema, input) => {
    const tools = [
      { name: 'Read', schema: object({ path: string }) },
      { name, schema },
    ];
    expect(shellCall(tools, 'ls')).toMatchObject({ tool: { name }, input });
    expect(shellCall(tools, 'ls')?.input).toEqual(input);
  });

  test('there may be none', () => {
    expect(shellCall([{ name: 'Read', schema: object({ path: string }) }], 'ls')).toBeNull();
  });
});

describe('writing a file', () => {
  const file = { path: 'a/b.txt', content: "it's" };

  test.each([
    ['Write', object({ file_path: string, content: string }), { file_path: '/w/a/b.txt', content: "it's" }],
    ['write', object({ filePath: string, content: string }), { filePath: '/w/a/b.txt', content: "it's" }],
    ['create_file', object({ path: string, file_text: string }), { path: '/w/a/b.txt', file_text: "it's" }],
  ])('%s gets the absolute path if the client names its directory', (name, schema, input) => {
    expect(writeCall([{ name, schema }], file, '/w')?.input).toEqual(input);
  });

  test('without such a tool the shell writes it, without a directory the path stays unchanged', () => {
    const bash = { name: 'Bash', schema: object({ command: string }) };
    expect(writeCall([bash], file, null)?.input).toEqual({
      command: String.raw`mkdir -p -- 'a' && printf '%s' 'it'\''s' > 'a/b.txt'`,
    });
    const write = { name: 'Write', schema: object({ path: string, content: string }) };
    expect(writeCall([bash, write], file, null)?.input).toEqual({ path: 'a/b.txt', content: "it's" });
    expect(writeCall([], file, null)).toBeNull();
  });
});

describe('a tool by its name', () => {
  const tools = ['echo_all', 'mcp__demo__echo', 'demo_echo', 'echo'].map((name) => ({ name, schema: {} }));

  test('the exact name is best, then a suffix', () => {
    expect(namedCall(tools, 'echo', { a: 1 })).toMatchObject({ tool: { name: 'echo' }, input: { a: 1 } });
    expect(namedCall(tools.slice(0, 3), 'echo', {})?.tool.name).toBe('mcp__demo__echo');
    expect(namedCall(tools, 'all', {})?.tool.name).toBe('echo_all');
    expect(namedCall(tools, 'nothing (', {})).toBeNull();
  });

  test('a tool of an MCP server is known by its name, or by that of its group', () => {
    expect(mcpCall(tools, {})?.tool.name).toBe('mcp__demo__echo');
    const grouped = [
      { name: 'wait', schema: {}, namespace: 'agents' },
      { name: 'echo', schema: {}, namespace: 'mcp__demo' },
    ];
    expect(mcpCall(grouped, {})?.tool).toMatchObject({ name: 'echo', namespace: 'mcp__demo' });
    expect(mcpCall(tools.slice(3), {})).toBeNull();
    const plain = ['bash', 'todowrite', 'demo_echo'].map((name) => ({ name, schema: {} }));
    expect(mcpCall(plain, {})?.tool.name).toBe('demo_echo');
  });
});

test('a schema is filled with the simplest matching value', () => {
  const schema = object({
    constant: { const: 7 },
    given: { type: 'string', default: 'd' },
    choice: { enum: ['b', 'a'] },
    nullable: { type: ['string', 'null'] },
    either: { anyOf: [{ type: 'number', minimum: 4 }, string] },
    list: { type: 'array', minItems: 1, items: { type: 'boolean' } },
    empty: { type: 'array' },
    inner: object({ text: string }),
    nothing: true,
  });
  expect(fillSchema(schema, { extra: 1 })).toEqual({
    constant: 7,
    given: 'd',
    choice: 'b',
    nullable: null,
    either: 4,
    list: [false],
    empty: [],
    inner: { text: 'scripted text' },
    nothing: 'scripted nothing',
    extra: 1,
  });
  let deep: Record<string, unknown> = string;
  for (let depth = 0; depth < 1_000; depth += 1) deep = object({ deeper: deep });
  expect(JSON.stringify(fillSchema(deep)).length).toBeLessThan(200);
});

test('text that a CLI adds to the user’s messages is no user turn', () => {
  const injected = [
    '<system-reminder>\nToday is Monday.\n</system-reminder>',
    '<environment_context>\n<cwd>/w</cwd>\n</environment_context>',
    '# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>',
  ];
  for (const text of injected) expect(withoutInjected(text)).toBe('');
  expect(withoutInjected(`${injected[0]}\nHello`)).toBe('Hello');
});

test('a message sent while the model works is a user turn, however the CLI formats it', () => {
  const told = 'The user sent a new message while you were working:\nStop, do B\n\nThis is how it is told.';
  const shapes = [
    { role: 'system', content: [{ type: 'text', text: told }] },
    { role: 'user', content: [{ type: 'text', text: `<system-reminder>\n${told}\n</system-reminder>` }] },
  ];
  for (const shape of shapes) {
    const { entries } = anthropic.read({ messages: [{ role: 'user', content: 'Do A' }, shape] });
    expect(entries).toEqual([
      { role: 'user', text: 'Do A' },
      { role: 'user', text: 'Stop, do B' },
    ]);
  }
});

test('the working directory of a CLI is found in its messages', () => {
  expect(directoryIn('x', '<cwd>/w/a b</cwd>')).toBe('/w/a b');
  expect(directoryIn(' - Primary working directory: /w\n - Other')).toBe('/w');
  expect(directoryIn("I'm currently working in the directory: /w/x\n")).toBe('/w/x');
  expect(directoryIn('nothing of the kind')).toBeNull();
});

test('a long-running command is waited for, and waiting is not a step', () => {
  const running = 'Chunk ID: 1\nProcess running with session ID 41\nOutput:\n';
  expect(pollFor(running)).toMatchObject({ name: 'write_stdin', input: { session_id: 41 } });
  expect(pollFor('Script running with cell ID 3\nOutput:\n')).toMatchObject({ name: 'wait', input: { cell_id: '3' } });
  expect(pollFor('Process exited with code 0\nOutput:\nProcess running with session ID 41\n')).toBeNull();
  const call = (name: string, input: Record<string, unknown>) =>
    ({ role: 'assistant', text: '', calls: [{ name, input }] }) as const;
  const { answers, result } = standingOf([
    { role: 'user', text: 'Hello' },
    { ...call('exec_command', { cmd: 'sleep 9' }), calls: [{ name: 'exec_command', input: {} }] },
    { role: 'tool', text: running },
    { ...call('write_stdin', { session_id: 41 }), calls: [{ name: 'write_stdin', input: { session_id: 41 } }] },
    { role: 'tool', text: 'ended' },
  ]);
  expect({ answers, result }).toEqual({ answers: 1, result: 'ended' });
});
