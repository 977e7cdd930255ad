import { spawn } from 'node:child_process';
import { readMessages, write, writeGarbage } from './lines.ts';

/**
 * An ACP agent that does what the prompt says. Words: `fork`, `resume`, `load` are what it offers; `busy-answers` answers a
 * prompt during a turn, as agents that steer do.
 */
const offers = new Set(process.argv.slice(2));
const sessionId = 'sess-1';
let nextId = 100;
/** The answer that the running turn still owes. */
let owed: { id: unknown }[] = [];
const waiting = new Map<number, (result: unknown) => void>();

const update = (update: object, id = sessionId) =>
  write({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: id, update } });
const say = (text: string) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
const answer = (id: unknown, result: object) => write({ jsonrpc: '2.0', id, result });
const refuse = (id: unknown, code: number, message: string, data?: unknown) =>
  write({ jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } });
const end = (id: unknown, stopReason = 'end_turn') => answer(id, { stopReason });

function ask(kind: string, more: object = {}): Promise<unknown> {
  const id = nextId++;
  const toolCall = { toolCallId: `call-${id}`, title: `use ${kind}`, kind, ...more };
  const options = [
    { optionId: 'always', name: 'Always', kind: 'allow_always' },
    { optionId: 'once', name: 'Once', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ];
  write({ jsonrpc: '2.0', id, method: 'session/request_permission', params: { sessionId, toolCall, options } });
  return new Promise((resolve) => waiting.set(id, resolve));
}

async function prompt(id: unknown, text: string): Promise<void> {
  switch (text.split(' ')[0]) {
    case 'tool':
      update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'I need ' } });
      update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'a tool.' } });
      update({
        sessionUpdate: 'tool_call',
        toolCallId: 't1',
        title: 'run',
        kind: 'execute',
        status: 'pending',
        rawInput: { cwd: '/' },
      });
      update({ sessionUpdate: 'tool_call_update', toolCallId: 't1', rawInput: { command: 'ls' } });
      update({ sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'in_progress' });
      update({
        sessionUpdate: 'tool_call_update',
        toolCallId: 't1',
        status: 'failed',
        content: [{ type: 'content', content: { type: 'text', text: 'no such file' } }],
      });
      say('done');
      answer(id, { stopReason: 'end_turn', usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } });
      return;
    case 'ask':
      for (const kind of ['edit', 'read']) say(`${kind}: ${JSON.stringify(await ask(kind))} `);
      return end(id);
    case 'run':
      say(`run: ${JSON.stringify(await ask('execute', { rawInput: { command: 'npm test' } }))}`);
      return end(id, offers.has('cancels') ? 'cancelled' : 'end_turn');
    case 'change':
      await ask('edit', {
        locations: [{ path: '/w/a.ts' }],
        content: [{ type: 'diff', path: '/w/b.ts', oldText: '', newText: 'x' }],
      });
      await ask('execute', { title: 'npm test (in the worktree)' });
      return end(id);
    case 'limit':
      return refuse(id, -32603, 'Internal error', { errorKind: 'rate_limit', message: 'You have reached your limit.' });
    case 'code':
      return refuse(id, 429, 'You have exhausted your daily quota.');
    case 'auth':
      return refuse(id, -32000, 'Authentication required');
    case 'limit-text':
      say('Error: 429 too many requests');
      return end(id);
    case 'refusal':
      return end(id, 'refusal');
    case 'garbage':
      writeGarbage();
      update({ sessionUpdate: 'a_new_kind', secret: 'kept' });
      update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'not mine' } }, 'another-session');
      say('still here');
      return end(id);
    case 'crash':
      say('half a ');
      process.stderr.write('the engine is on fire\n');
      process.exit(7);
      return;
    case 'hang': {
      const tool = spawn('sleep', ['300'], { detached: true, stdio: 'ignore' });
      tool.unref();
      owed = [{ id }];
      say(`pid ${tool.pid}`);
      return;
    }
    default:
      say('You said: ');
      say(text);
      return end(id);
  }
}

function open(id: unknown, method: string, params: Record<string, unknown>): void {
  process.stderr.write(`${method} ${JSON.stringify(params)}\n`);
  if (params['sessionId'] === 'unknown') return refuse(id, -32603, 'Internal error', { details: 'No such session.' });
  if (method === 'session/load') say('what was said before');
  if (method === 'session/fork') return answer(id, { sessionId });
  const modes = { currentModeId: 'auto', availableModes: [{ id: 'auto' }, { id: 'default' }, { id: 'read-only' }] };
  const models = { currentModelId: 'small', availableModels: [] };
  answer(id, method === 'session/new' ? { sessionId, modes, models } : {});
}

for await (const message of readMessages()) {
  const { id, method } = message;
  const params = (message['params'] ?? {}) as Record<string, unknown>;
  if (method === undefined) {
    waiting.get(id as number)?.(message['result']);
  } else if (method === 'initialize') {
    process.stderr.write(`${JSON.stringify(params)}\n`);
    const sessionCapabilities = {
      ...(offers.has('fork') ? { fork: {} } : {}),
      ...(offers.has('resume') ? { resume: {} } : {}),
    };
    answer(id, { protocolVersion: 1, agentCapabilities: { loadSession: offers.has('load'), sessionCapabilities } });
  } else if (method === 'session/prompt') {
    const [block] = params['prompt'] as { text: string }[];
    if (owed.length > 0 && offers.has('busy-answers')) {
      say(`steered: ${block?.text}`);
      end(id);
      for (const each of owed.splice(0)) end(each.id);
    } else if (owed.length > 0) {
      // What gemini, qwen and copilot do: the running turn is lost.
      for (const each of owed.splice(0)) end(each.id, 'cancelled');
    } else {
      void prompt(id, block?.text ?? '');
    }
  } else if (method === 'session/cancel') {
    if (!offers.has('stubborn')) for (const each of owed.splice(0)) end(each.id, 'cancelled');
  } else if (method === 'session/set_mode') {
    process.stderr.write(`mode ${String(params['modeId'])}\n`);
    answer(id, {});
  } else if (method === 'session/set_model') {
    process.stderr.write(`model ${String(params['modelId'])}\n`);
    answer(id, {});
  } else {
    open(id, method as string, params);
  }
}
