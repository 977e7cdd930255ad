import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Answer } from '../../src/conversation/answer-assembly.ts';
import type { AssistantPart, Message, ToolResult } from '../../src/conversation/message.ts';
import { userMessage } from '../../src/conversation/message.ts';
import { openCalls } from '../../src/conversation/open-calls.ts';
import type { Decision, Turn, TurnResult } from '../../src/loop/turn.ts';
import { runTurn } from '../../src/loop/turn.ts';
import { ModelFault } from '../../src/model/model-fault.ts';
import { allTools } from '../../src/tools/tool-set.ts';
import type { GateRequest, Tool } from '../../src/tools/tool.ts';
import { openWorkspace } from '../support/workspace.ts';

type Reply = AssistantPart[] | ModelFault | { parts: AssistantPart[]; tokens: number };

const say = (text: string): AssistantPart => ({ type: 'text', text });
let ids = 0;
const call = (name: string, input: unknown, id = `call_${++ids}`): AssistantPart => ({
  type: 'tool-call',
  id,
  name,
  input,
});

type Played = {
  result: TurnResult | Error;
  messages: Message[];
  results: ToolResult[];
  summaries: string[];
  requests: GateRequest[];
  asked: (readonly Message[])[];
};

/** Plays a turn with a model that gives these answers, the last one for ever. */
async function play(replies: Reply[], changes: Partial<Turn> & { stopAt?: number } = {}): Promise<Played> {
  await using space = await openWorkspace();
  const messages: Message[] = [userMessage('Do it.')];
  const played: Played = { result: new Error('none'), messages, results: [], summaries: [], requests: [], asked: [] };
  const turn: Turn = {
    mode: 'chat',
    author: 'test/model',
    conversation: { messages, append: (message) => void messages.push(message) },
    tools: allTools,
    context: space.context,
    maxIterations: 20,
    contextTokens: 1_000,
    ask(given) {
      played.asked.push([...given]);
      const reply = replies[Math.min(played.asked.length, replies.length) - 1] ?? [];
      if (reply instanceof ModelFault) return Promise.reject(reply);
      const { parts, tokens } = Array.isArray(reply) ? { parts: reply, tokens: 1 } : reply;
      const answer: Answer = {
        parts,
        finish: 'stop',
        usage: { input: tokens, cacheRead: 0, cacheWrite: 0, output: 0 },
      };
      return Promise.resolve(answer);
    },
    decide(request): Promise<Decision> {
      played.requests.push(request);
      if (played.requests.length === changes.stopAt) space.stop.abort(new Error('stopped'));
      return Promise.resolve({ allow: true });
    },
    takeInput: () => {},
    onAnswer: () => {},
    onResult: (result) => played.results.push(result),
    onSummary: (text) => played.summaries.push(text),
    ...changes,
  };
  played.result = await runTurn(turn).catch((error: unknown) => error as Error);
  expect(openCalls(messages)).toEqual([]);
  return played;
}

describe('chat mode', () => {
  it('chains tools, one for each answer, until plain text [S2-07]', async () => {
    const { result, results } = await play([
      [say('First.'), call('Bash', { command: 'echo one' }), call('Bash', { command: 'echo two' })],
      [call('Bash', { command: 'echo three' })],
      [say('Done.')],
    ]);
    expect(result).toMatchObject({ ok: true, text: 'Done.' });
    expect(results.map(({ text }) => text.split('.')[0])).toEqual([
      'one\n',
      'Not run: one tool for each answer',
      'three\n',
    ]);
  });

  it('ends at the limit of answers [W2-27]', async () => {
    let count = 0;
    const { result } = await play([[]], {
      maxIterations: 5,
      ask: () => {
        const parts = [call('Bash', { command: `echo ${++count}` })];
        return Promise.resolve({ parts, finish: 'stop', usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 } });
      },
    });
    expect(result).toMatchObject({ ok: false, reason: 'The model did not finish within 5 answers.' });
    expect(count).toBe(5);
  });
});

describe('auto mode [S2-08]', () => {
  it('runs every call of an answer, and ends in an outcome [W2-12]', async () => {
    const task = { type: 'task', title: 'Build it', user_stories: ['As a user'], acceptance_criteria: ['It works'] };
    const { result, results } = await play(
      [[call('Bash', { command: 'echo one' }), call('Bash', { command: 'echo two' })], [call('Finish', task)]],
      { mode: 'auto' },
    );
    expect(result).toMatchObject({ ok: true, outcome: task });
    expect(results.map(({ text }) => text)).toEqual(['one\n', 'two\n', 'Build it']);
    const patch = await play([[call('Finish', { type: 'patch', title: 'fix' })]], { mode: 'auto' });
    expect(patch.result).toMatchObject({ outcome: { type: 'patch', title: 'fix' } });
    expect(patch.requests[0]?.input).toMatchObject({ action: 'Patch' });
    const none = await play([[call('Finish', { type: 'none', summary: 'All is well.' })]], { mode: 'auto' });
    expect(none.result).toMatchObject({ ok: true, text: 'All is well.', outcome: { type: 'none' } });
    expect(none.requests[0]?.input).toMatchObject({ action: null });
    // An answer in words is no statement that the work is done.
    expect((await play([[say('Shall I?')]], { mode: 'auto' })).result).toMatchObject({ outcome: null });
  });

  it('goes on after a task without a title', async () => {
    const calls = [[call('Finish', { type: 'task' })], [call('Finish', { type: 'task', title: 'Build it' })]];
    const { result, results } = await play(calls, { mode: 'auto' });
    expect(results[0]).toMatchObject({ isError: true, text: 'A task needs a title.' });
    expect(result).toMatchObject({ outcome: { type: 'task', title: 'Build it' } });
  });
});

describe('calls that may run side by side', () => {
  /** A tool whose calls end only when two of them run. */
  const meeting = (): Tool => {
    let waiting: (() => void)[] = [];
    return {
      name: 'Meet',
      description: '',
      parallel: true,
      input: z.looseObject({}),
      describe: () => ({ title: 'Meet', input: {} }),
      run: (given, { signal }) =>
        new Promise((resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
          waiting.push(() => resolve({ text: `met ${JSON.stringify(given)}`, isError: false }));
          if (waiting.length === 2) for (const go of waiting.splice(0).toReversed()) go();
        }),
    };
  };

  it('do, with their results in order', async () => {
    const calls = [call('Meet', { n: 1 }), call('Meet', { n: 2 }), call('Bash', { command: 'echo then' })];
    const { results } = await play([calls, [say('Done.')]], { mode: 'auto', tools: [...allTools, meeting()] });
    expect(results.map(({ text }) => text)).toEqual(['met {"n":1}', 'met {"n":2}', 'then\n']);
  });

  it('all have a result when the turn is stopped', async () => {
    const calls = [call('Bash', { command: 'echo one' }), call('Meet', { n: 1 }), call('Meet', { n: 2 })];
    const { result, results } = await play([calls], {
      mode: 'auto',
      stopAt: 3,
      tools: [...allTools, meeting()],
    });
    expect(result).toMatchObject({ message: 'stopped' });
    expect(results.map(({ text }) => text.split('.')[0])).toEqual([
      'one\n',
      expect.any(String),
      'Not run: the turn ended before',
    ]);
    expect(results[1]?.text).toContain('may have taken effect');
  });
});

describe('the gate', () => {
  it('is asked before anything runs, and its reason goes to the model [S2-16]', async () => {
    const { results, result } = await play(
      [[call('Bash', { command: 'touch ran' })], [call('Glob', {})], [say('Ok.')]],
      {
        decide: ({ tool }) =>
          Promise.resolve(tool === 'Bash' ? { allow: false, reason: 'No commands.' } : { allow: true }),
      },
    );
    expect(results.map(({ text }) => text)).toEqual(['No commands.', 'No file matches.']);
    expect(result).toMatchObject({ ok: true });
  });

  it('never sees a tool that is not there, or input that does not fit', async () => {
    const { requests, results } = await play([
      [call('Teleport', {})],
      [call('Read', { path: 7 })],
      [call('Read', '{"path":')],
      [say('Sorry.')],
    ]);
    expect(requests).toEqual([]);
    expect(results.every(({ isError }) => isError)).toBe(true);
  });
});

describe('loop breakers [W2-26]', () => {
  const reasonOf = async (replies: Reply[]) => {
    const { result } = await play(replies);
    return 'reason' in result ? result.reason : result.message;
  };

  it('end a turn with their reason', async () => {
    expect(await reasonOf([[call('Bash', { command: 'date +%N' }, 'same')]])).toContain('same answer 3 times');
    expect(await reasonOf([[]])).toContain('answered with nothing 3 times');
    const varied = ['a', 'b', 'c'].map((text) => [say(text), call('Bash', { command: 'echo same' })]);
    expect(await reasonOf(varied)).toContain('called Bash 3 times');
    const searches = [1, 2, 3, 4].map((number) => [call('Grep', { query: `absent${number}` })]);
    expect(await reasonOf(searches)).toContain('searched 4 times');
    const invalid = [1, 2, 3, 4].map((number) => [call('Read', `{"path": ${number}`)]);
    expect(await reasonOf(invalid)).toContain('invalid input for a tool 4 times');
  });

  it('let polling and progress go on', async () => {
    const polling = Array.from({ length: 6 }, () => [call('BashOutput', { id: 'command-1' }, 'poll')]);
    expect((await play([...polling, [say('Enough.')]])).result).toMatchObject({ ok: true });
    const mixed = [1, 2, 3, 4, 5].map((number) => [
      call(number % 2 ? 'Grep' : 'Bash', number % 2 ? { query: `x${number}` } : { command: `echo ${number}` }),
    ]);
    expect((await play([...mixed, [say('Done.')]])).result).toMatchObject({ ok: true });
  });
});

describe('compaction', () => {
  it('summarises a conversation that is too long, and goes on', async () => {
    const { asked, messages, result } = await play([
      new ModelFault('too-long', 'prompt is too long'),
      [say('They want it done.')],
      [say('Done.')],
    ]);
    expect(result).toMatchObject({ ok: true, text: 'Done.' });
    expect(messages).toContainEqual({ role: 'summary', text: 'They want it done.' });
    expect(messages[0]).toEqual(userMessage('Do it.'));
    expect(JSON.stringify(asked[1])).toContain('Summarise this conversation');
  });

  it('gives up when the summary does not help', async () => {
    const { result } = await play([new ModelFault('too-long', 'prompt is too long')]);
    expect(result).toMatchObject({ kind: 'too-long' });
  });

  it('summarises before the context is full', async () => {
    const { messages } = await play([
      { parts: [call('Bash', { command: 'echo one' })], tokens: 900 },
      [say('So far, one.')],
      [say('Done.')],
    ]);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool-result', 'summary', 'assistant']);
  });
});

describe('a turn', () => {
  const lineBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

  it('keeps every message small enough to be stored, and runs no call of an answer that was cut', async () => {
    const huge = call('Bash', { command: `touch ran # ${'\u0001'.repeat(200_000)}` });
    const cut = await play([[say('I run it.'), huge]]);
    expect(cut.requests).toEqual([]);
    expect(cut.messages.at(-1)).toMatchObject({ role: 'assistant', parts: [{ type: 'text' }] });
    expect(JSON.stringify(cut.messages.at(-1))).toContain('no tool was called');
    const long = await play([[say('\u0001'.repeat(10_000_000))]]);
    expect(lineBytes(long.messages.at(-1))).toBeLessThan(1024 * 1024);

    const flood: Tool = {
      ...(allTools.find(({ name }) => name === 'get_repo_info') as Tool),
      run: () => Promise.resolve({ text: '\u0001'.repeat(10_000_000), isError: false }),
    };
    const { results } = await play([[call('get_repo_info', {})], [say('Done.')]], { tools: [flood] });
    expect(results[0]?.text).toContain('The rest is too long.');
    expect(lineBytes(results[0])).toBeLessThan(1024 * 1024);
  });

  it('runs only some of the calls of an answer that has thousands', async () => {
    const calls = Array.from({ length: 2_000 }, (_, index) =>
      call('Todo', { items: [{ text: `${index}`, status: 'pending' }] }),
    );
    const { requests, results, result } = await play([calls, [say('Done.')]], { mode: 'auto' });
    expect(requests).toHaveLength(50);
    expect(results).toHaveLength(2_000);
    expect(results.at(-1)).toMatchObject({ isError: true, text: 'Not run: only 50 calls of one answer run.' });
    expect(result).toMatchObject({ ok: true });
  });

  it('takes reasoning without text or calls for no answer', async () => {
    const { result, messages } = await play([[{ type: 'reasoning', text: 'Hm.' }], [say('Done.')]]);
    expect(result).toMatchObject({ ok: true, text: 'Done.' });
    expect(messages).toHaveLength(2);
  });

  it('gives each call an id of its own, whatever the server chose', async () => {
    const again = (text: string) => [say(text), call('Bash', { command: `echo ${text}` }, 'call_0')];
    const { results } = await play([again('a'), again('b'), [say('Done.')]]);
    expect(results.map(({ callId, text }) => [callId, text])).toEqual([
      ['call_0', 'a\n'],
      ['call_0_2', 'b\n'],
    ]);
  });

  it('answers every call when it is stopped', async () => {
    const calls = [call('Bash', { command: 'sleep 60' }), call('Bash', { command: 'echo two' })];
    const { result, results } = await play([calls], { mode: 'auto', stopAt: 1 });
    expect(result).toMatchObject({ message: 'stopped' });
    expect(results).toHaveLength(2);
  });
});
