import { spawn } from 'node:child_process';
import { readMessages, write, writeGarbage } from './lines.ts';

/** A `codex app-server` that does what the prompt says. */
let threadId = 'thread-1';
let turns = 0;
let running: string | null = null;

const notify = (method: string, params: object) => write({ method, params: { threadId, ...params } });
const item = (event: 'started' | 'completed', item: object) => notify(`item/${event}`, { turnId: running, item });
const say = (text: string) => {
  notify('item/agentMessage/delta', { turnId: running, itemId: 'm', delta: text });
  item('completed', { type: 'agentMessage', id: 'm', text });
};
const showInput = (params: Record<string, unknown>) =>
  item('completed', {
    type: 'userMessage',
    id: 'u',
    clientId: params['clientUserMessageId'],
    content: params['input'],
  });
const used = (total: number, last: number) => {
  const tokens = (count: number) => ({ inputTokens: count, cachedInputTokens: count / 10, outputTokens: count / 100 });
  notify('thread/tokenUsage/updated', { turnId: running, tokenUsage: { total: tokens(total), last: tokens(last) } });
};
const end = (status: string, error: object | null = null) => {
  notify('turn/completed', { turn: { id: running, status, error } });
  running = null;
};
const fail = (message: string, codexErrorInfo: unknown) => end('failed', { message, codexErrorInfo });

function play(text: string): void {
  switch (text.split(' ')[0]) {
    case 'tool': {
      item('completed', { type: 'reasoning', id: 'r', summary: ['I need a tool.'], content: [] });
      const command = { type: 'commandExecution', id: 'c', command: 'ls', aggregatedOutput: null, exitCode: null };
      item('started', { ...command, status: 'inProgress' });
      item('completed', { ...command, status: 'failed', aggregatedOutput: 'no such file', exitCode: 2 });
      used(5_000, 1_000);
      say('done');
      used(7_000, 2_000);
      return end('completed');
    }
    case 'ask':
      write({ id: 900, method: 'item/commandExecution/requestApproval', params: { threadId } });
      return;
    case 'limit':
      notify('error', { willRetry: true, error: { message: 'Reconnecting... 1/1' } });
      write({
        method: 'account/rateLimits/updated',
        params: {
          rateLimits: {
            primary: { usedPercent: 100, resetsAt: 1_900_000_000 },
            secondary: { usedPercent: 3, resetsAt: 2e9 },
          },
        },
      });
      return fail('You’ve hit your usage limit.', 'usageLimitExceeded');
    case 'overload':
      return fail('Selected model is at capacity', 'serverOverloaded');
    case 'status':
      return fail('exceeded retry limit', { responseTooManyFailedAttempts: { httpStatusCode: 502 } });
    case 'garbage':
      writeGarbage();
      say('still here');
      return end('completed');
    case 'crash':
      process.stderr.write('the engine is on fire\n');
      process.exit(7);
      return;
    case 'hang': {
      const tool = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
      tool.unref();
      return say(`pid ${tool.pid}`);
    }
    default:
      say(`You said: ${text}`);
      return end('completed');
  }
}

for await (const message of readMessages()) {
  const { id, method } = message;
  const params = (message['params'] ?? {}) as Record<string, unknown>;
  const [input] = (params['input'] ?? []) as { text: string }[];
  const answer = (result: object) => write({ id, result });
  switch (method) {
    case undefined:
      say(`decision: ${JSON.stringify(message['result'])}`);
      end('completed');
      break;
    case 'initialize':
      answer({ userAgent: 'fake' });
      break;
    case 'thread/start':
    case 'thread/resume':
    case 'thread/fork':
      process.stderr.write(`${method} ${JSON.stringify(params)}\n`);
      if (params['threadId'] === 'unknown') {
        write({ id, error: { code: -32600, message: 'no rollout found for thread id unknown' } });
        break;
      }
      threadId = method === 'thread/fork' ? 'thread-2' : threadId;
      answer({ thread: { id: threadId }, model: params['model'] ?? 'gpt-fake' });
      break;
    case 'turn/start':
      running = `turn-${(turns += 1)}`;
      answer({ turn: { id: running, status: 'inProgress' } });
      showInput(params);
      play(input?.text ?? '');
      break;
    case 'turn/steer':
      if (running === null || params['expectedTurnId'] !== running) {
        write({ id, error: { code: -32600, message: 'no active turn to steer' } });
        break;
      }
      answer({ turnId: running });
      if (input?.text === 'unseen') {
        end('completed');
        break;
      }
      showInput(params);
      say(`steered: ${input?.text}`);
      end('completed');
      break;
    case 'turn/interrupt':
      answer({});
      end('interrupted');
      break;
    default:
      break;
  }
}
