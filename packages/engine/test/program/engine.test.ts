import { join } from 'node:path';
import { mkdir, readFile } from 'node:fs/promises';
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

const conversation = '11111111-1111-4111-8111-111111111111';
const another = '22222222-2222-4222-8222-222222222222';

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

  it('resumes with another vendor, and forks, with everything that was said', async () => {
    await using scene = await openScene({ fallback: 'recall' });
    await using first = scene.start(['--session-id', conversation]);
    first.say('Remember the word [[mark:heron]].');
    await first.end();
    await using second = scene.start(['--resume', conversation], 'openai');
    second.say('Which word?');
    await second.end();
    expect(second.lines.at(-1)?.['result']).toContain('Remember the word');
    await using fork = scene.start(['--resume', conversation, '--fork-session', '--session-id', another], 'google');
    fork.say('And now?');
    await fork.end();
    expect(scene.server.requests.map(({ userTurns }) => userTurns)).toEqual([1, 2, 3]);
    expect(scene.server.requests.at(-1)?.marks).toContain('heron');
    await using third = scene.start(['--resume', conversation], 'compatible');
    third.say('Again?');
    await third.end();
    expect(scene.server.requests.at(-1)?.userTurns).toBe(3);
  });

  it('refuses a conversation that does not exist or that another process has open', async () => {
    await using scene = await openScene();
    await using missing = scene.start(['--resume', conversation]);
    expect(await missing.end()).toBe(1);
    expect(missing.lines[0]?.['errors']).toEqual([`No conversation found with session ID: ${conversation}`]);
    await using open = scene.start(['--session-id', conversation]);
    await open.line(({ subtype }) => subtype === 'init', 'the start');
    await using second = scene.start(['--resume', conversation]);
    expect(await second.end()).toBe(4);
    expect(second.stderr).toContain('open in another process');
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

describe('kill -9', () => {
  it('in a tool: the tool does not run again, and the model is told', async () => {
    const steps = [{ shell: 'echo run >> runs; sleep 60' }, { say: 'Ended.' }];
    const scenarios = { once: { steps, followUp: [{ say: 'Now: {turns}' }] } };
    await using scene = await openScene({ scenarios, fallback: 'once' });
    await using engine = scene.start(['--session-id', conversation]);
    engine.say('Run it.', uuid(1));
    await waitUntil(() => readFile(join(scene.root, 'runs'), 'utf8'), { what: 'the tool' });
    await engine.kill('SIGKILL');
    await using again = scene.start(['--resume', conversation]);
    again.say('Go on.', uuid(2));
    await again.end();
    expect(await readFile(join(scene.root, 'runs'), 'utf8')).toBe('run\n');
    expect(JSON.stringify(again.lines.find(isToolResult))).toContain('may have taken effect');
    expect(scene.server.requests.at(-1)).toMatchObject({ userTurns: 2 });
  });

  it('at any line of output: no message is lost, no command runs twice', async () => {
    const steps = [1, 2, 3].map((number) => ({ shell: `echo ${number} >> runs` }));
    const scenarios = { three: { steps: [...steps, { say: 'Ended.' }], followUp: [{ say: 'Turns: {turns}' }] } };
    await using scene = await openScene({ scenarios, fallback: 'three' });
    for (let cut = 2; cut <= 8; cut++) {
      const id = `${cut}0000000-1111-4111-8111-111111111111`;
      await git(scene.root, ['clean', '-fdq']);
      await using engine = scene.start(['--session-id', id]);
      engine.say('Run them. [[mark:first]]', uuid(1));
      await waitUntil(() => engine.lines.length >= cut, { what: `line ${cut}` });
      await engine.kill('SIGKILL');
      await using again = scene.start(['--resume', id]);
      again.say('Go on. [[mark:second]]', uuid(2));
      expect(await again.end()).toBe(0);
      expect(scene.server.requests.at(-1)?.marks).toEqual(['first', 'second']);
      const runs = (await readFile(join(scene.root, 'runs'), 'utf8').catch(() => '')).split('\n').filter(Boolean);
      expect(new Set(runs).size).toBe(runs.length);
    }
  });

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
