import { join } from 'node:path';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { ConversationMessage } from '@pawl/schema/conversation/message';
import { git } from '@pawl/testing/sample-repository';
import { startModelServer } from '@pawl/testing/model-server/server';
import type { ModelServer, ModelServerOptions } from '@pawl/testing/model-server/server';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { field } from '@pawl/wire/json-line';
import { describe, expect, it } from 'vitest';
import type { Vendor } from '../../src/model/model-choice.ts';
import { vendors } from '../../src/model/model-choice.ts';
import type { EngineProcess, Line } from '../support/engine-process.ts';
import { startEngine } from '../support/engine-process.ts';

const isResult = (line: Line) => line['type'] === 'result';
const isToolResult = (line: Line) => JSON.stringify(line).includes('"tool_result"');

type Scene = {
  root: string;
  server: ModelServer;
  start(words?: string[], vendor?: Vendor, scenario?: string): EngineProcess;
} & AsyncDisposable;

/** A repository, a scripted model and a home of the engine. */
async function openScene(options: ModelServerOptions = {}): Promise<Scene> {
  const directory = await temporaryDirectory('pawl-engine');
  const root = join(directory.path, 'workspace');
  await mkdir(root);
  await git(root, ['init', '-q', '-b', 'main']);
  const server = await startModelServer(options);
  return {
    root,
    server,
    start(words = [], vendor = 'anthropic', scenario) {
      const model = vendor === 'anthropic' ? 'claude-sonnet-4-5' : 'scripted-1';
      const base = scenario === undefined ? server.url : `${server.url}/s/${scenario}`;
      const env = {
        PAWL_ENGINE_HOME: join(directory.path, 'engine'),
        PAWL_ENGINE_API_KEY: 'sk-secret',
        PAWL_ENGINE_BASE_URL: vendor === 'anthropic' || vendor === 'google' ? base : `${base}/v1`,
      };
      return startEngine(['--replay-user-messages', '--model', `${vendor}/${model}`, ...words], { cwd: root, env });
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await directory[Symbol.asyncDispose]();
    },
  };
}

const lines = (...values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

/** A conversation that another program held. */
const story: ConversationMessage[] = [
  { role: 'user', parts: [{ type: 'text', text: 'Remember [[mark:heron]].' }], uuid: null },
  {
    role: 'assistant',
    author: 'robots/one',
    parts: [
      { type: 'reasoning', text: '[[mark:thought]]', vendorFacts: { robots: { signature: 'x' } } },
      { type: 'tool-call', id: 'call 1', name: 'Bash', input: { command: 'echo [[mark:input]]' } },
    ],
  },
  { role: 'tool-result', callId: 'call 1', name: 'Bash', text: '[[mark:output]]', images: [], isError: false },
  { role: 'assistant', author: '', parts: [{ type: 'text', text: '[[mark:said]]' }] },
];

const uuid = (digit: number) => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`;

describe('the engine', () => {
  for (const vendor of vendors) {
    it(`writes a file and commits it on ${vendor}`, async () => {
      await using scene = await openScene();
      await using engine = scene.start([], vendor);
      engine.say('Write a note.', uuid(1));
      expect(await engine.end()).toBe(0);
      expect(engine.lines[0]).toMatchObject({ type: 'system', subtype: 'init' });
      expect(engine.lines[1]).toMatchObject({ type: 'user', isReplay: true, uuid: uuid(1) });
      expect(engine.lines.at(-1)).toMatchObject({ subtype: 'success', is_error: false, num_turns: 4 });
      expect(await git(scene.root, ['log', '--format=%s'])).toContain('docs: note');
      const signal = await readFile(join(scene.root, '.pawl/output/signal.json'), 'utf8');
      expect(signal).toContain('"done"');
    });
  }

  for (const vendor of vendors) {
    it(`goes on with a conversation that others began, on ${vendor}`, async () => {
      await using scene = await openScene({ fallback: 'text' });
      const file = join(scene.root, 'conversation.jsonl');
      await writeFile(file, lines({ version: 1 }, ...story.map((message) => ({ message }))));
      await using engine = scene.start(['--conversation', file], vendor);
      engine.say('Which word? [[mark:now]]');
      expect(await engine.end()).toBe(0);
      expect(scene.server.requests[0]).toMatchObject({
        userTurns: 2,
        marks: ['heron', 'input', 'output', 'said', 'now'],
      });
    });
  }

  it.each([
    ['that is missing', null, 'ENOENT'],
    ['that was cut', '{"version":1}\n{"mess', 'its last line is cut'],
    ['with a line that is no message', '{"version":1}\n{"message":{"role":"robot"}}\n', 'line 2 cannot be read'],
    ['of another version', '{"version":2}\n', 'line 1 cannot be read'],
    ['without a version', '', 'it does not begin with its version'],
  ])('refuses a conversation %s, and asks no model', async (_what, content, reason) => {
    await using scene = await openScene();
    const file = join(scene.root, 'conversation.jsonl');
    if (content !== null) await writeFile(file, content);
    await using engine = scene.start(['--conversation', file]);
    engine.say('Hello');
    expect(await engine.end()).toBe(2);
    expect(engine.stderr).toContain(reason);
    expect(scene.server.requests).toEqual([]);
  });

  it('writes each message whole, with what only its author understands', async () => {
    const steps = [{ think: 'A plan.' }, { say: 'I look.' }, { tool: { name: 'Read', input: { path: 'dot.png' } } }];
    await using scene = await openScene({
      scenarios: { look: { steps: [...steps, { say: 'Seen.' }] } },
      fallback: 'look',
    });
    await writeFile(join(scene.root, 'dot.png'), dot);
    await using engine = scene.start([], 'openai-chat');
    engine.say('Look.');
    await engine.end();
    const messages = engine.lines.flatMap((line) => field(line, 'pawl', 'message') ?? []);
    expect(messages).toMatchObject([
      {
        role: 'assistant',
        author: 'openai-chat/scripted-1',
        parts: [
          { type: 'text', text: expect.stringContaining('I look.') as string },
          { type: 'tool-call', name: 'Read', input: { path: 'dot.png' } },
        ],
      },
      { role: 'tool-result', images: [{ mediaType: 'image/png', base64: dot.toString('base64') }] },
    ]);
  });

  it('takes mail in the middle of a turn, and a repeated line once', async () => {
    const steps = [{ shell: 'touch started; while [ ! -e go ]; do sleep 0.05; done' }, { say: 'Turns: {turns}' }];
    await using scene = await openScene({
      scenarios: { patient: { steps, followUp: [{ say: 'Turns: {turns}' }] } },
      fallback: 'patient',
    });
    await using engine = scene.start();
    engine.say('Wait for go.', uuid(1));
    await waitUntil(() => readFile(join(scene.root, 'started'), 'utf8').then(() => true), { what: 'the tool' });
    engine.say('One more thing.', uuid(2));
    engine.say('One more thing.', uuid(2));
    await git(scene.root, ['init', '-q', 'go']);
    const result = await engine.line(isResult, 'the result');
    expect(result['result']).toContain('Turns: 2');
    expect(await engine.end()).toBe(0);
    expect(engine.lines.filter(isResult)).toHaveLength(1);
    expect(engine.lines.filter((line) => line['uuid'] === uuid(2))).toHaveLength(2);
  });

  it('interrupts a turn and goes on with the next', async () => {
    await using scene = await openScene();
    await using engine = scene.start(['--include-partial-messages'], 'anthropic', 'sleep');
    engine.say('Sleep.');
    await engine.line((line) => field(line, 'message', 'content', '0', 'type') === 'tool_use', 'the tool call');
    engine.write({ type: 'control_request', request_id: 'r1', request: { subtype: 'interrupt' } });
    expect(await engine.line(isResult, 'the result')).toMatchObject({ terminal_reason: 'aborted_streaming' });
    expect(engine.lines).toContainEqual(expect.objectContaining({ type: 'control_response' }));
    const stopped = await engine.line(isToolResult, 'the result of the tool');
    expect(JSON.stringify(stopped)).toContain('Interrupted');
    engine.say('Hello again.');
    await waitUntil(() => scene.server.requests.length === 2, { what: 'the second turn' });
    expect(scene.server.requests.at(-1)?.userTurns).toBe(2);
  });

  it('reports a usage limit and a bad key in the words of the parser', async () => {
    await using scene = await openScene();
    await using limited = scene.start([], 'anthropic', 'quota');
    limited.say('Hello');
    expect(await limited.end()).toBe(1);
    expect(limited.lines.at(-2)).toMatchObject({ type: 'rate_limit_event' });
    expect(limited.lines.at(-1)).toMatchObject({ subtype: 'success', is_error: true });
    await using refused = scene.start([], 'openai', 'auth');
    refused.say('Hello');
    await refused.end();
    expect(refused.lines.at(-1)).toMatchObject({ is_error: true, api_error_status: 401 });
  });

  it("keeps keys from the model's commands", async () => {
    const steps = [{ shell: 'env' }, { say: 'Done.' }];
    await using scene = await openScene({ scenarios: { env: { steps } }, fallback: 'env' });
    await using engine = scene.start();
    engine.say('Look around.');
    await engine.end();
    expect(JSON.stringify(engine.lines)).toContain('PATH=');
    expect(JSON.stringify(engine.lines)).not.toContain('sk-secret');
  });
});

describe('access', () => {
  const steps = [{ tool: { name: 'Glob' } }, { shell: 'touch ran' }, { say: 'Result: {result}' }];

  async function answered(decision: object | null) {
    const scene = await openScene({ scenarios: { touch: { steps } }, fallback: 'touch' });
    const engine = scene.start(['--access', 'ask']);
    engine.say('Touch it.');
    const question = await engine.line((line) => line['type'] === 'control_request', 'the question');
    expect(question['request']).toMatchObject({
      subtype: 'can_use_tool',
      tool_name: 'Bash',
      input: { command: 'touch ran' },
    });
    if (decision !== null) {
      const response = { subtype: 'success', request_id: question['request_id'], response: decision };
      engine.write({ type: 'control_response', response });
    }
    await engine.end();
    const files = await git(scene.root, ['ls-files', '--others']);
    await scene[Symbol.asyncDispose]();
    return { files, said: String(engine.lines.at(-1)?.['result']) };
  }

  it('asks before a command, and runs it only when it is allowed', async () => {
    expect(await answered({ behavior: 'allow' })).toMatchObject({ files: 'ran' });
    const denied = await answered({ behavior: 'deny', message: 'Not today.' });
    expect(denied).toEqual({ files: '', said: expect.stringContaining('Not today.') as string });
    expect(await answered(null)).toMatchObject({ files: '' });
  });

  it('refuses changes with read-only access', async () => {
    await using scene = await openScene({ scenarios: { touch: { steps } }, fallback: 'touch' });
    await using engine = scene.start(['--access', 'read-only']);
    engine.say('Touch it.');
    await engine.end();
    expect(await git(scene.root, ['ls-files', '--others'])).toBe('');
    expect(engine.lines.at(-1)?.['result']).toContain('read-only');
  });

  it('offers only the tools of the definition', async () => {
    await using scene = await openScene({ fallback: 'text' });
    await using engine = scene.start(['--tools', 'Read,Bash', '--disallowedTools', 'Bash', '--mode', 'chat']);
    engine.say('Hello');
    await engine.end();
    expect(scene.server.requests[0]?.tools).toEqual(['Read']);
  });
});

describe('what a turn costs', () => {
  const steps = [
    { usage: { input: 900, output: 10, cached: 500 } },
    { shell: 'true' },
    { usage: { input: 100, output: 20 } },
    { say: 'Done.' },
  ];
  const words = ['--include-partial-messages', '--context-tokens', '1000'];

  it('counts every call, also one for a summary, at the price of the model', async () => {
    await using scene = await openScene({ scenarios: { full: { steps } }, fallback: 'full' });
    await using engine = scene.start([...words, '--price', '2/10/1']);
    engine.say('Work.');
    await engine.end();
    const contexts = engine.lines.filter((line) => line['subtype'] === 'context_usage');
    expect(contexts.slice(0, 3)).toMatchObject([
      { stage: 'turn', compressed: false, summary_count: 0, token_limit: 1000 },
      { stage: 'summary', compressed: false, summary_count: 0 },
      { stage: 'turn', compressed: true, summary_count: 1 },
    ]);
    expect(Number(contexts[1]?.['char_count'])).toBeGreaterThan(Number(contexts[0]?.['char_count']));
    const { usage, total_cost_usd: cost } = engine.lines.at(-1) as {
      usage: Record<string, number>;
      total_cost_usd: number;
    };
    const input = (usage['input_tokens'] ?? 0) + (usage['cache_creation_input_tokens'] ?? 0);
    const cached = usage['cache_read_input_tokens'] ?? 0;
    // 400 and 500 cached, those of the summary, and 100.
    expect(input).toBeGreaterThan(500);
    expect(cached).toBeGreaterThanOrEqual(500);
    expect(cost).toBeCloseTo((input * 2 + cached + (usage['output_tokens'] ?? 0) * 10) / 1e6, 9);
  });

  it('is unknown without a price', async () => {
    await using scene = await openScene({ fallback: 'text' });
    await using engine = scene.start();
    engine.say('Hello');
    await engine.end();
    expect(engine.lines.at(-1)).not.toHaveProperty('total_cost_usd');
    await using wrong = scene.start(['--price', '3']);
    expect([await wrong.end(), wrong.stderr]).toEqual([2, expect.stringContaining('--price takes dollars')]);
  });
});

describe('SIGTERM', () => {
  it('a stop ends commands in the background', async () => {
    const input = { command: 'echo $$ > pid; sleep 600', run_in_background: true };
    const steps = [{ tool: { name: 'Bash', input } }, { shell: 'sleep 60' }];
    await using scene = await openScene({ scenarios: { back: { steps } }, fallback: 'back' });
    await using engine = scene.start();
    engine.say('Start it.');
    const pid = await waitUntil(async () => Number(await readFile(join(scene.root, 'pid'), 'utf8')) || null, {
      what: 'the command',
    });
    expect(await engine.kill('SIGTERM')).toBe(143);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
