import { spawn } from 'node:child_process';
import { readMessages, write, writeGarbage } from './lines.ts';

/** A `pi --mode rpc` that does what the prompt says. Its words are shown on stderr. */
process.stderr.write(`${JSON.stringify(process.argv.slice(2))}\n`);
if (process.argv.includes('unknown')) {
  process.stderr.write("No session found matching 'unknown'\n");
  process.exit(1);
}
let streaming = false;
let racing = false;

const usage = { input: 10, output: 5, cacheRead: 2, cacheWrite: 1, cost: { total: 0.25 } };
const user = (text: string) => write({ type: 'message_end', message: { role: 'user', content: text } });
const say = (text: string, more: object = {}) => {
  write({ type: 'message_update', assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta: text } });
  const content = [{ type: 'text', text }];
  write({ type: 'message_end', message: { role: 'assistant', content, usage, stopReason: 'stop', ...more } });
};
const settle = () => {
  streaming = false;
  write({ type: 'agent_end', messages: [], willRetry: false });
  write({ type: 'agent_settled' });
};

function play(text: string): void {
  streaming = true;
  write({ type: 'agent_start' });
  user(text);
  switch (text.split(' ')[0]) {
    case 'tool':
      write({ type: 'tool_execution_start', toolCallId: 't1', toolName: 'bash', args: { command: 'ls' } });
      write({ type: 'tool_execution_update', toolCallId: 't1', partialResult: {} });
      write({
        type: 'tool_execution_end',
        toolCallId: 't1',
        toolName: 'bash',
        result: { content: [{ type: 'text', text: 'no such file' }] },
        isError: true,
      });
      say('done');
      return settle();
    case 'limit':
      write({
        type: 'auto_retry_start',
        attempt: 1,
        maxAttempts: 3,
        delayMs: 20,
        errorMessage: '429 rate_limit_error',
      });
      say('', { stopReason: 'error', errorMessage: '429 rate_limit_error' });
      return settle();
    case 'dialog':
      write({ type: 'extension_ui_request', id: 'ui-1', method: 'confirm', title: 'Sure?' });
      return;
    case 'garbage':
      writeGarbage();
      say('still here');
      return settle();
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
      return settle();
  }
}

for await (const message of readMessages()) {
  const { id, type } = message;
  const answer = (data: object = {}) => write({ id, type: 'response', command: type, success: true, data });
  const text = String(message['message']);
  switch (type) {
    case 'get_state':
      answer({ sessionId: 'pi-session', model: { id: 'scripted-1' }, isStreaming: streaming, pendingMessageCount: 0 });
      if (racing) {
        user('race');
        say('a second run');
        settle();
      }
      break;
    case 'prompt':
      if (text === 'refused') {
        write({ id, type: 'response', command: type, success: false, error: 'compaction is in progress' });
        break;
      }
      answer();
      if (!streaming) {
        play(text);
      } else if (text === 'race') {
        // The run ends, and the input that came in the meantime begins another before anybody could know.
        racing = true;
        write({ type: 'agent_settled' });
      } else if (text === 'unseen') {
        settle();
      } else {
        user(text);
        say(`steered: ${text}`);
        settle();
      }
      break;
    case 'abort':
      say('', { stopReason: 'aborted' });
      settle();
      answer();
      break;
    case 'extension_ui_response':
      say(`dialog: ${JSON.stringify(message)}`);
      settle();
      break;
    default:
      answer();
  }
}
