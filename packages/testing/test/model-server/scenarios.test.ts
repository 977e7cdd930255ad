import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseSignal } from '@pawl/schema/signal';
import { describe, expect, test } from 'vitest';
import type { Json, Turn, Vendor } from './client.ts';
import { send } from './client.ts';
import { readers } from './parse.ts';
import { allVendors, vendors } from './vendors.ts';
import { modelServerLimits } from '../../src/model-server/limit.ts';
import type { ModelServer } from '../../src/model-server/server.ts';
import { startModelServer } from '../../src/model-server/server.ts';
import { git, isolatedGitEnvironment } from '../../src/sample-repository.ts';
import { temporaryDirectory } from '../../src/temporary.ts';

const run = promisify(execFile);
const hello: Turn[] = [{ user: 'Hello' }];

type Options = Parameters<typeof send>[3];

async function ask(server: ModelServer, vendor: Vendor, turns: Turn[], options: Options = {}) {
  const response = await send(server, vendor, turns, options);
  expect(response.status).toBe(200);
  const parsed = readers[vendor.name]?.whole((await response.json()) as Json);
  if (parsed === undefined) throw new Error('There is no reader.');
  return parsed;
}

/** Plays the part of a CLI: runs what the model calls in a directory until it calls nothing. */
async function converse(server: ModelServer, vendor: Vendor, directory: string, turns: Turn[], options: Options = {}) {
  const conversation = [...turns];
  for (let round = 0; round < 20; round += 1) {
    const { text, calls } = await ask(server, vendor, conversation, options);
    const [call] = calls;
    if (call === undefined) return { text, conversation: [...conversation, { model: text }] };
    const { stdout } = await run('sh', ['-c', String(call.input['command'])], {
      cwd: directory,
      env: { ...isolatedGitEnvironment(), EMAIL: '', HOME: directory },
    });
    conversation.push({ call: call.name, input: call.input }, { result: stdout });
  }
  throw new Error('The conversation does not end.');
}

async function repository(directory: string): Promise<void> {
  await git(directory, ['init', '-q', '-b', 'main']);
  await git(directory, ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'first']);
}

describe('the built-in scenarios', () => {
  test.each(allVendors)('work commits a file and signals, with nothing but a shell ($name)', async (vendor) => {
    await using server = await startModelServer();
    await using directory = await temporaryDirectory();
    await repository(directory.path);
    const { text, conversation } = await converse(server, vendor, directory.path, hello);
    expect(text).toBe('All done.\n\nuser turns seen: 1');
    expect(await git(directory.path, ['log', '--format=%s', 'main'])).toMatch(/^docs: note [0-9a-f]{8}\nfirst$/);
    const signal = parseSignal(await readFile(join(directory.path, '.pawl/output/signal.json'), 'utf8'));
    expect(signal).toMatchObject({ ok: true, signal: { status: 'done', result: expect.stringMatching(/notes\//) } });
    await converse(server, vendor, directory.path, [...conversation, { user: 'Once more' }]);
    expect(await git(directory.path, ['rev-list', '--count', 'main'])).toBe('3');
  });

  test('questions asks first, and is done when the user has answered', async () => {
    await using server = await startModelServer({ fallback: 'questions' });
    await using directory = await temporaryDirectory();
    await repository(directory.path);
    const signal = async () => parseSignal(await readFile(join(directory.path, '.pawl/output/signal.json'), 'utf8'));
    const { conversation } = await converse(server, vendors.responses, directory.path, hello);
    expect(await signal()).toMatchObject({ ok: true, signal: { status: 'questions', questions: [{ id: 'q1' }] } });
    await converse(server, vendors.responses, directory.path, [...conversation, { user: 'Answer: blue' }]);
    expect(await signal()).toMatchObject({ ok: true, signal: { status: 'done' } });
  });

  test('no-signal commits and leaves no signal', async () => {
    await using server = await startModelServer({ fallback: 'no-signal' });
    await using directory = await temporaryDirectory();
    await repository(directory.path);
    await converse(server, vendors.chat, directory.path, hello);
    expect(await git(directory.path, ['rev-list', '--count', 'main'])).toBe('2');
    expect(await git(directory.path, ['status', '--porcelain'])).toBe('');
  });

  test.each(allVendors)('recall quotes the first turn and counts them all ($name)', async (vendor) => {
    await using server = await startModelServer({ fallback: 'recall' });
    const turns: Turn[] = [
      { user: 'Start [[mark:blue-42]]' },
      { model: 'ok' },
      { user: 'b' },
      { model: 'ok' },
      { user: 'c' },
    ];
    const { text } = await ask(server, vendor, turns);
    expect(text).toContain('began with: Start');
    expect(text).toContain('mark: blue-42');
    expect(text).toContain('user turns seen: 3');
  });

  test.each(allVendors)('mcp calls the first MCP tool and says what it returned ($name)', async (vendor) => {
    await using server = await startModelServer({ fallback: 'mcp' });
    const properties = { text: { type: 'string' }, level: { type: 'integer', minimum: 3 } };
    const schema = { type: 'object', properties, required: ['text', 'level'] };
    const tools = [vendor.tool('Read', {}), vendor.tool('mcp__demo__echo', schema)];
    const { calls } = await ask(server, vendor, hello, { tools });
    expect(calls).toEqual([{ name: 'mcp__demo__echo', input: { text: 'scripted text', level: 3 } }]);
    const called: Turn[] = [...hello, { call: 'mcp__demo__echo', input: {} }, { result: 'pong' }];
    expect((await ask(server, vendor, called, { tools })).text).toContain('The tool returned: pong');
  });

  test('tool-loop never ends its turn', async () => {
    await using server = await startModelServer({ fallback: 'tool-loop' });
    const turns: Turn[] = [...hello];
    for (let round = 1; round <= 12; round += 1) {
      const [call] = (await ask(server, vendors.chat, turns)).calls;
      expect(call?.input['command']).toBe(`echo round ${round}`);
      turns.push({ call: 'Bash', input: call?.input ?? {} }, { result: `round ${round}` });
    }
  });

  test('sleep runs a long command; limit-midway works first', async () => {
    await using server = await startModelServer();
    const [call] = (await ask(server, vendors.chat, hello, { prefix: '/s/sleep' })).calls;
    expect(call?.input['command']).toBe('sleep 300');
    const turns: Turn[] = [...hello, { call: 'Bash', input: {} }, { result: '' }];
    expect((await send(server, vendors.chat, hello, { prefix: '/s/limit-midway' })).status).toBe(200);
    expect((await send(server, vendors.chat, turns, { prefix: '/s/limit-midway' })).status).toBe(429);
  });
});

describe('the choice of scenario', () => {
  test('the URL comes before the prompt, the prompt before the key, the key before the fallback', async () => {
    await using server = await startModelServer({ fallback: 'text', keys: { 'sk-mine': 'recall' } });
    const ways: [turn: string, options: Options, expected: string][] = [
      ['[[scenario:recall]]', { prefix: '/s/text', key: 'sk-mine' }, 'text'],
      ['[[scenario:mcp]]', { key: 'sk-mine' }, 'mcp'],
      ['Hello', { key: 'sk-mine' }, 'recall'],
      ['Hello', { key: 'sk-limit-reset-b' }, 'limit-reset'],
      ['Hello', { key: 'sk-limit' }, 'limit'],
      ['Hello', { key: 'sk-limitless-a' }, 'text'],
      ['[[scenario:recall]] no, [[scenario:sleep]]', {}, 'sleep'],
    ];
    for (const [user, options, expected] of ways) {
      await send(server, vendors.anthropic, [{ user }], options);
      expect(server.requests.at(-1)?.scenario, `${user} ${JSON.stringify(options)}`).toBe(expected);
    }
  });

  test('a marker counts in the latest message only, a session marker from then on', async () => {
    await using server = await startModelServer({ fallback: 'text' });
    const chosen = async (...users: string[]) => {
      await send(
        server,
        vendors.chat,
        users.flatMap((user) => [{ user }, { model: 'ok' }]),
      );
      return server.requests.at(-1)?.scenario;
    };
    expect(await chosen('[[scenario:recall]]', 'Hello')).toBe('text');
    expect(await chosen('[[session:recall]]', 'Hello')).toBe('recall');
    expect(await chosen('[[session:recall]]', '[[session:mcp]]', 'Hello')).toBe('mcp');
    expect(await chosen('[[session:recall]]', '[[scenario:mcp]]')).toBe('mcp');
  });

  test('the scenario of a key can be changed while the server runs', async () => {
    await using server = await startModelServer({ fallback: 'text', keys: { 'sk-a': 'limit' } });
    expect((await send(server, vendors.chat, hello, { key: 'sk-a' })).status).toBe(429);
    server.keys.delete('sk-a');
    expect((await send(server, vendors.chat, hello, { key: 'sk-a' })).status).toBe(200);
  });

  test('a message can contain its own steps, plain or quoted by a CLI', async () => {
    await using server = await startModelServer();
    const steps = JSON.stringify([{ say: 'a ] and "b"' }, { shell: 'echo [1]' }]);
    for (const user of [`Do [[steps:${steps}]] now`, `"Do [[steps:${steps.replaceAll('"', '\\"')}]] now"`]) {
      const plain = user.startsWith('"') ? 'echo [1]' : 'a ] and "b"';
      const parsed = await ask(server, vendors.gemini, [{ user }]);
      expect(`${parsed.text} ${String(parsed.calls[0]?.input['command'])}`).toContain(plain);
    }
  });

  test.each([
    ['[[steps:[{"say":"x"}', 'no JSON array'],
    ['[[steps:[nonsense]]]', 'no JSON'],
    ['[[steps:[{"jump":1}]]]', 'are wrong'],
    ['[[scenario:nothing]]', 'There is no scenario nothing'],
  ])('%s is refused with the reason', async (user, reason) => {
    await using server = await startModelServer();
    const response = await send(server, vendors.anthropic, [{ user }]);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(reason);
  });
});

describe('keys and the record of requests', () => {
  test.each(allVendors)('marks show what the model received, in order and how often ($name)', async (vendor) => {
    await using server = await startModelServer({ fallback: 'text' });
    const turns = [{ user: '[[mark:a]], [[mark:b]]' }, { model: 'Yes.' }, { user: '[[mark:a]]; [[mark:]] is none' }];
    await (await send(server, vendor, turns)).text();
    expect(server.requests[0]?.marks).toEqual(['a', 'b', 'a']);
  });

  test.each(allVendors)('only valid keys are accepted, wherever the vendor puts them ($name)', async (vendor) => {
    await using server = await startModelServer({ validKeys: ['sk-good'], fallback: 'text' });
    expect((await send(server, vendor, hello, { key: 'sk-good' })).status).toBe(200);
    expect((await send(server, vendor, hello, { key: 'sk-bad' })).status).toBe(vendor.name === 'gemini' ? 400 : 401);
  });

  test('a key in the query or as a bearer token works as well', async () => {
    await using server = await startModelServer({ validKeys: ['sk-good'], fallback: 'text' });
    const inQuery = {
      ...vendors.gemini,
      path: () => '/v1beta/models/m:generateContent?key=sk-good',
      header: () => ({}),
    };
    expect((await send(server, inQuery, hello)).status).toBe(200);
    const bearer = { ...vendors.anthropic, header: vendors.chat.header };
    expect((await send(server, bearer, hello, { key: 'sk-good' })).status).toBe(200);
    expect(JSON.stringify(server.requests)).not.toContain('sk-good');
  });

  test('a request is recorded with everything a test needs, and their number is bounded', async () => {
    await using server = await startModelServer({ fallback: 'text' });
    await (await send(server, vendors.anthropic, hello, { prefix: '/s/mcp', stream: true })).text();
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      path: '/s/mcp/v1/messages',
      api: 'anthropic',
      kind: 'answer',
      scenario: 'mcp',
      step: 1,
      userTurns: 1,
      model: 'scripted-1',
      stream: true,
      tools: ['Bash'],
    });
    expect(server.requests[0]?.key).toMatch(/^[0-9a-f]{8}$/);
    for (let count = 0; count < modelServerLimits.requestsKept; count += 50) {
      await Promise.all(Array.from({ length: 50 }, () => fetch(server.url).then((response) => response.text())));
    }
    expect(server.requests).toHaveLength(modelServerLimits.requestsKept);
    expect(server.requests[0]?.kind).toBe('alive');
  });

  test('an unknown fallback and a bad scenario are refused at the start', async () => {
    await expect(startModelServer({ fallback: 'nothing' })).rejects.toMatchObject({ code: 'not_found' });
    const bad = { scenarios: { bad: { steps: [{ jump: 1 }] } } } as never;
    await expect(startModelServer(bad)).rejects.toThrow(/steps/);
  });
});
