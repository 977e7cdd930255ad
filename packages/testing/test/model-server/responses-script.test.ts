import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { scriptOf } from '../../src/model-server/api/responses-script.ts';
import { responses } from '../../src/model-server/api/responses.ts';
import { startModelServer } from '../../src/model-server/server.ts';
import type { Json } from './client.ts';
import { eventsOf } from './client.ts';

const declaration = (name: string, fields: string) =>
  `### \`${name}\`\n\n\`\`\`ts\ndeclare const tools: { ${name}(args: {\n${fields}\n}): Promise<unknown>; };\n\`\`\`\n`;
const exec = {
  type: 'custom',
  name: 'exec',
  description: [
    'All nested tools are available, for example `await tools.exec_command(...)`.',
    declaration('exec_command', '  // Shell command.\n  cmd: string;\n  tty?: boolean;\n  yield_time_ms?: number;'),
    declaration('plan', '  steps: Array<{\n    inner: string;\n  }>;\n  title: string;'),
  ].join('\n'),
};
const offered = {
  type: 'additional_tools',
  role: 'developer',
  tools: [{ type: 'namespace', name: 'functions', tools: [exec] }],
};
const hello = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] };

/** Runs a script as its client would, with these tools. */
async function run(script: string, tools: Record<string, (input: Json) => unknown>): Promise<unknown[]> {
  const said: unknown[] = [];
  const ALL_TOOLS = Object.keys(tools).map((name) => ({ name, description: '' }));
  await runInNewContext(`(async () => {${script}\n})()`, {
    tools,
    ALL_TOOLS,
    text: (value: unknown) => said.push(value),
  });
  return said;
}

test('tools that only a script may call are offered with the fields that they declare', () => {
  const { tools } = responses.read({ input: [offered, hello] });
  const script = { name: 'exec', namespace: 'functions' };
  const schema = { properties: { cmd: { type: 'string' }, tty: { type: 'boolean' } }, required: ['cmd'] };
  expect(tools).toMatchObject([
    { name: 'exec_command', script, schema },
    { name: 'plan', script, schema: { properties: { steps: {}, title: {} }, required: ['steps', 'title'] } },
  ]);
});

test('a command is run by a script, in a stream as well, and its result leads to the next step', async () => {
  const scenarios = { one: { steps: [{ shell: 'ls' }, { say: 'It said {result}.' }] } };
  await using server = await startModelServer({ scenarios, fallback: 'one' });
  const ask = async (input: Json[]) => {
    const body = JSON.stringify({ model: 'm', stream: true, input });
    const response = await fetch(`${server.url}/v1/responses`, { method: 'POST', body });
    return eventsOf(await response.text()) as unknown as { type: string; item: Json; delta: string }[];
  };
  const events = await ask([offered, hello]);
  const item = events.find(({ type }) => type === 'response.output_item.done')?.item ?? {};
  expect(item).toMatchObject({ type: 'custom_tool_call', name: 'exec', namespace: 'functions' });
  const deltas = events.filter(({ type }) => type === 'response.custom_tool_call_input.delta');
  expect(deltas.map(({ delta }) => delta).join('')).toBe(item['input']);
  const ran = { type: 'custom_tool_call_output', call_id: item['call_id'], output: 'a.txt' };
  expect(JSON.stringify(await ask([offered, hello, item, ran]))).toContain('It said a.txt.');
});

test('the script waits for a command that runs on', async () => {
  const waited: Json[] = [];
  const said = await run(scriptOf({ name: 'exec_command', input: { cmd: 'sleep 9' } }), {
    exec_command: () => ({ output: '', session_id: 7 }),
    write_stdin: (input) => {
      waited.push(input);
      return waited.length < 2 ? { output: '', session_id: 7 } : { output: 'slept' };
    },
  });
  expect(said).toEqual(['slept']);
  expect(waited).toMatchObject([{ session_id: 7 }, { session_id: 7 }]);
});

test('the script finds tools of MCP servers by itself', async () => {
  const tools = { write_stdin: () => '', mcp__demo__echo: (input: Json) => `pong ${String(input['text'])}` };
  expect(await run(scriptOf({ name: 'echo', input: { text: 'a' } }), tools)).toEqual(['pong a']);
  expect(await run(scriptOf({ name: 'mcp__', input: { text: 'b' } }), tools)).toEqual(['pong b']);
});
