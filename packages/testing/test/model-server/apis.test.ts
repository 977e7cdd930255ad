import { describe, expect, test } from 'vitest';
import type { Json, Turn } from './client.ts';
import { send, shellTool } from './client.ts';
import { geminiParsed, readers } from './parse.ts';
import { allVendors, vendors } from './vendors.ts';
import { startModelServer } from '../../src/model-server/server.ts';

const hello: Turn[] = [{ user: 'Hello' }];

describe.each(allVendors)('$name', (vendor) => {
  const read = async (response: Response, stream: boolean) => {
    expect(response.status).toBe(200);
    const reader = readers[vendor.name];
    if (reader === undefined) throw new Error('There is no reader.');
    return stream ? reader.stream(await response.text()) : reader.whole((await response.json()) as Json);
  };

  test.each([false, true])('says a text and counts the turns of the user (stream: %s)', async (stream) => {
    await using server = await startModelServer({ fallback: 'text' });
    const turns = [...hello, { model: 'Hi' }, { user: 'And now? ⚙️ Ünïcode' }];
    const { text, calls } = await read(await send(server, vendor, turns, { stream }), stream);
    expect(text).toBe('Here is the answer.\n\nuser turns seen: 2');
    expect(calls).toEqual([]);
  });

  test.each([false, true])('thinks, talks and calls a tool in one answer (stream: %s)', async (stream) => {
    await using server = await startModelServer({
      scenarios: { one: { steps: [{ think: 'Hm.' }, { say: 'Look.' }, { shell: 'echo "{turns} — ⚙️" | cat' }] } },
      fallback: 'one',
    });
    const response = await send(server, vendor, hello, { stream });
    if (stream) expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const text = await response.clone().text();
    expect(text).toContain('Hm.');
    const parsed = await read(response, stream);
    expect(parsed.text).toBe('Look.\n\nuser turns seen: 1');
    expect(parsed.calls).toEqual([
      { name: 'Bash', input: { command: 'echo "1 — ⚙️" | cat', description: 'scripted description' } },
    ]);
  });

  test.each([false, true])('reports the tokens of the scenario (stream: %s)', async (stream) => {
    const scenarios = { counted: { steps: [{ usage: { input: 900, output: 70, cached: 200 } }, { say: 'Counted.' }] } };
    await using server = await startModelServer({ scenarios, fallback: 'counted' });
    const { usage } = await read(await send(server, vendor, hello, { stream }), stream);
    const expected: Record<string, Json> = {
      anthropic: { input_tokens: 700, cache_read_input_tokens: 200, output_tokens: 70 },
      responses: { input_tokens: 900, input_tokens_details: { cached_tokens: 200 }, output_tokens: 70 },
      chat: { prompt_tokens: 900, prompt_tokens_details: { cached_tokens: 200 }, completion_tokens: 70 },
      gemini: { promptTokenCount: 900, cachedContentTokenCount: 200, candidatesTokenCount: 70 },
    };
    expect(usage).toMatchObject(expected[vendor.name] ?? {});
  });

  test('follows its steps by the conversation’s content, and starts again with the user’s next turn', async () => {
    const steps = [{ shell: 'one' }, { shell: 'two' }, { say: 'It returned {result}.' }];
    await using server = await startModelServer({ scenarios: { steps: { steps } }, fallback: 'steps' });
    const ask = async (turns: Turn[]) => {
      const { calls, text } = await read(await send(server, vendor, turns), false);
      return calls[0]?.input['command'] ?? text;
    };
    const first: Turn[] = [...hello, { call: 'Bash', input: { command: 'one' } }, { result: 'I' }];
    const second: Turn[] = [...first, { call: 'Bash', input: { command: 'two' } }, { result: 'II' }];
    const third: Turn[] = [...second, { model: 'Done.' }];
    expect(await ask(hello)).toBe('one');
    expect(await ask(first)).toBe('two');
    expect(await ask(second)).toBe('It returned II.\n\nuser turns seen: 1');
    expect(await ask([...third, { user: 'Again' }])).toBe('one');
    expect(await ask(third)).toContain('There is nothing left to do.');
  });

  test('the same request gets the same response, byte for byte, despite other clients', async () => {
    await using server = await startModelServer({ now: () => 1_800_000_000_000 });
    const others: Turn[] = [{ user: 'Something else' }];
    const all = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const response = await send(server, vendor, index % 4 === 0 ? others : hello, { stream: index % 2 === 0 });
        return [index % 4, await response.text()] as const;
      }),
    );
    for (const kind of [0, 1, 2, 3]) {
      const answers = new Set(all.filter(([each]) => each === kind).map(([, text]) => text));
      expect(answers.size).toBe(1);
    }
    expect(new Set(all.map(([, text]) => text)).size).toBe(3);
  });

  test('without tools it does no work: a title or a summary is a short text', async () => {
    await using server = await startModelServer();
    const { text, calls } = await read(await send(server, vendor, hello, { tools: [] }), false);
    expect(calls).toEqual([]);
    expect(text).toContain('A short scripted answer.');
  });

  test('a client without a suitable tool is told so', async () => {
    const scenarios = { odd: { steps: [{ tool: { name: 'no_such_tool' } }] } };
    await using server = await startModelServer({ scenarios, fallback: 'odd' });
    const { text } = await read(await send(server, vendor, hello, { tools: [shellTool(vendor)] }), false);
    expect(text).toContain('Offered are: Bash');
  });
});

test('Gemini’s stream without alt=sse is one JSON array', async () => {
  await using server = await startModelServer({ fallback: 'text' });
  const path = '/v1beta/models/scripted-1:streamGenerateContent';
  const response = await send(server, { ...vendors.gemini, path: () => path }, hello);
  const { text } = geminiParsed((await response.json()) as never);
  expect(text).toContain('user turns seen: 1');
});

test.each([
  [vendors.anthropic, { output_config: { format: { type: 'json_schema', schema: {} } } }],
  [vendors.responses, { text: { format: { type: 'json_schema', schema: {} } } }],
  [vendors.chat, { response_format: { type: 'json_schema', json_schema: { schema: {} } } }],
  [vendors.gemini, { generationConfig: { responseJsonSchema: {} } }],
])('$name: an answer that must match a schema does', async (vendor, format) => {
  await using server = await startModelServer({ fallback: 'text' });
  const properties = { next: { type: 'string', enum: ['user', 'model'] }, sure: { type: 'boolean' } };
  const schema = { type: 'object', properties, required: ['next', 'sure'] };
  const filled = JSON.parse(
    JSON.stringify(format).replace(/"(schema|responseJsonSchema)":\{\}/, `"$1":${JSON.stringify(schema)}`),
  ) as Json;
  const asking = {
    ...vendor,
    body: (turns: Turn[]) => ({ ...vendor.body(turns, { stream: false, tools: [] }), ...filled }),
  };
  const parsed = readers[vendor.name]?.whole((await (await send(server, asking, hello)).json()) as Json);
  expect(JSON.parse(parsed?.text ?? '')).toEqual({ next: 'user', sure: false });
});

test('tokens are counted, the same for the same', async () => {
  await using server = await startModelServer();
  const count = async (path: string) => {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      body: JSON.stringify({ text: 'x'.repeat(400) }),
    });
    return (await response.json()) as Json;
  };
  expect(await count('/v1/messages/count_tokens?beta=true')).toEqual({ input_tokens: 103 });
  expect(await count('/v1beta/models/m:countTokens')).toEqual({ totalTokens: 103 });
});

test('models are listed for each vendor, and the root answers', async () => {
  await using server = await startModelServer();
  const get = async (path: string) => (await (await fetch(`${server.url}${path}`)).json()) as Json;
  expect(await get('/v1/models')).toMatchObject({
    object: 'list',
    data: [{ id: 'scripted-1', type: 'model' }, {}, {}, {}],
  });
  expect(await get('/v1beta/models')).toMatchObject({ models: [{ name: 'models/scripted-1' }, {}, {}, {}] });
  expect(await get('/')).toEqual({ status: 'ok' });
});
