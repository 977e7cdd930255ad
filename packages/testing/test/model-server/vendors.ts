import type { Json, Turn, Vendor } from './client.ts';

const anthropic: Vendor = {
  name: 'anthropic',
  path: () => '/v1/messages?beta=true',
  header: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  tool: (name, schema) => ({ name, description: name, input_schema: schema }),
  body: (turns, { stream, tools }) => ({
    model: 'scripted-1',
    max_tokens: 1_000,
    stream,
    tools,
    thinking: { type: 'enabled', budget_tokens: 1_000 },
    messages: turns.map((turn, index) => {
      if ('user' in turn) return { role: 'user', content: [{ type: 'text', text: turn.user }] };
      if ('model' in turn) return { role: 'assistant', content: [{ type: 'text', text: turn.model }] };
      if ('call' in turn) {
        const call = { type: 'tool_use', id: `c${index}`, name: turn.call, input: turn.input };
        return { role: 'assistant', content: [call] };
      }
      const content = [{ type: 'text', text: turn.result }];
      return { role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${index - 1}`, content }] };
    }),
  }),
};

const responses: Vendor = {
  name: 'responses',
  path: () => '/v1/responses',
  header: (key) => ({ authorization: `Bearer ${key}` }),
  tool: (name, schema) => ({ type: 'function', name, parameters: schema }),
  body: (turns, { stream, tools }) => ({
    model: 'scripted-1',
    stream,
    tools: [...tools, { type: 'web_search' }],
    reasoning: { summary: 'auto' },
    input: turns.map((turn, index): Json => {
      if ('user' in turn) return { type: 'message', role: 'user', content: [{ type: 'input_text', text: turn.user }] };
      if ('model' in turn) {
        return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: turn.model }] };
      }
      if ('call' in turn) {
        const call = { call_id: `c${index}`, name: turn.call, arguments: JSON.stringify(turn.input) };
        return { type: 'function_call', ...call };
      }
      return { type: 'function_call_output', call_id: `c${index - 1}`, output: turn.result };
    }),
  }),
};

const chat: Vendor = {
  name: 'chat',
  path: () => '/v1/chat/completions',
  header: (key) => ({ authorization: `Bearer ${key}` }),
  tool: (name, schema) => ({ type: 'function', function: { name, parameters: schema } }),
  body: (turns, { stream, tools }) => ({
    model: 'scripted-1',
    stream,
    tools,
    messages: [{ role: 'system', content: 'You are a test.' }, ...turns.map(chatMessage)],
  }),
};

function chatMessage(turn: Turn, index: number): Json {
  if ('user' in turn) return { role: 'user', content: turn.user };
  if ('model' in turn) return { role: 'assistant', content: turn.model };
  if ('call' in turn) {
    const call = { name: turn.call, arguments: JSON.stringify(turn.input) };
    return { role: 'assistant', content: null, tool_calls: [{ id: `c${index}`, type: 'function', function: call }] };
  }
  return { role: 'tool', tool_call_id: `c${index - 1}`, content: turn.result };
}

const gemini: Vendor = {
  name: 'gemini',
  path: (stream) => `/v1beta/models/scripted-1:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  header: (key) => ({ 'x-goog-api-key': key }),
  tool: (name, schema) => ({ name, parametersJsonSchema: schema }),
  body: (turns, { tools }) => ({
    tools: tools.length === 0 ? [] : [{ functionDeclarations: tools }],
    generationConfig: { thinkingConfig: { includeThoughts: true } },
    contents: turns.map((turn): Json => {
      if ('user' in turn) return { role: 'user', parts: [{ text: turn.user }] };
      if ('model' in turn) return { role: 'model', parts: [{ text: turn.model }] };
      if ('call' in turn) return { role: 'model', parts: [{ functionCall: { name: turn.call, args: turn.input } }] };
      return { role: 'user', parts: [{ functionResponse: { name: 'x', response: { output: turn.result } } }] };
    }),
  }),
};

/** The four APIs as their clients speak them. */
export const vendors = { anthropic, responses, chat, gemini };
export const allVendors = Object.values(vendors);
