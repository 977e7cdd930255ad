import { startModelServer } from '@pawl/testing/model-server/server';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Message } from '../../src/conversation/message.ts';
import { callsOf, textOf, userMessage } from '../../src/conversation/message.ts';
import type { Vendor } from '../../src/model/model-choice.ts';
import { authorOf, vendors } from '../../src/model/model-choice.ts';
import { choiceOf, talk } from '../support/talk.ts';

const blocks = z.array(z.record(z.string(), z.unknown()));
const anthropicBody = z.object({ messages: z.array(z.object({ content: blocks })) });
const chatCalls = z.array(z.object({ id: z.string() }));
const chatBody = z.object({ messages: z.array(z.looseObject({ tool_calls: chatCalls.optional() })) });
const responsesItem = z.looseObject({ type: z.string().optional(), call_id: z.string().optional() });
const responsesBody = z.object({ input: z.array(responsesItem), store: z.boolean() });

const scenarios = {
  tale: { steps: [{ say: 'I look first.' }, { shell: 'cat recipe.txt' }, { say: 'The recipe says: {result}' }] },
};

/** Begins a conversation with a tool call on one vendor. */
async function begin(vendor: Vendor, url: string): Promise<Message[]> {
  const messages: Message[] = [userMessage('Read recipe.txt [[mark:question]]')];
  const { answer } = await talk({ vendor, url, messages });
  const message = { role: 'assistant' as const, parts: answer.parts, author: authorOf(choiceOf(vendor)) };
  const [call] = callsOf(message);
  if (call === undefined) throw new Error(`${vendor} called no tool`);
  expect(call).toMatchObject({ name: 'Bash', input: { command: 'cat recipe.txt' } });
  expect(textOf(message)).toContain('I look first.');
  const text = 'two eggs [[mark:result]]';
  return [
    ...messages,
    message,
    { role: 'tool-result', callId: call.id, name: call.name, text, images: [], isError: false },
  ];
}

describe('a conversation goes on with another vendor', () => {
  for (const from of vendors) {
    it(`from ${from} to every other`, async () => {
      await using server = await startModelServer({ scenarios, fallback: 'tale' });
      const messages = await begin(from, server.url);
      for (const to of vendors) {
        const { answer, bodies } = await talk({ vendor: to, url: server.url, messages });
        expect(textOf({ role: 'assistant', parts: answer.parts, author: '' })).toContain('two eggs');
        expect(server.requests.at(-1)).toMatchObject({ userTurns: 1, step: 2, marks: ['question', 'result'] });
        expectSameStory(bodies[0] ?? '');
      }
    });
  }

  it('keeps the input of a call, its name and its result together in each format', async () => {
    await using server = await startModelServer({ scenarios, fallback: 'tale' });
    const messages = await begin('google', server.url);
    const bodyFor = async (vendor: Vendor) => (await talk({ vendor, url: server.url, messages })).bodies[0] ?? '';
    const anthropic = anthropicBody.parse(JSON.parse(await bodyFor('anthropic'))).messages;
    const use = anthropic[1]?.content[1];
    expect(use).toMatchObject({ type: 'tool_use', name: 'Bash', input: { command: 'cat recipe.txt' } });
    expect(anthropic[2]?.content[0]).toMatchObject({ type: 'tool_result', tool_use_id: use?.['id'] });
    const chat = chatBody.parse(JSON.parse(await bodyFor('openai-chat'))).messages;
    expect(chat[3]).toMatchObject({ role: 'tool', tool_call_id: chat[2]?.tool_calls?.[0]?.id });
    const responses = responsesBody.parse(JSON.parse(await bodyFor('openai')));
    const output = responses.input.find(({ type }) => type === 'function_call_output');
    expect(responses.input.find(({ type }) => type === 'function_call')).toMatchObject({ call_id: output?.call_id });
    expect(responses.store).toBe(false);
  });

  it('marks what Anthropic should cache, and asks for one call in chat mode', async () => {
    await using server = await startModelServer({ scenarios, fallback: 'tale' });
    const { bodies } = await talk({ vendor: 'anthropic', url: server.url, messages: [userMessage('Hello')] });
    expect(bodies[0]?.match(/"cache_control":\{"type":"ephemeral"\}/g)).toHaveLength(2);
    expect(bodies[0]).toContain('"disable_parallel_tool_use":true');
  });
});

/** The words of a story in the order in which they were said, whatever the format. */
function expectSameStory(body: string): void {
  const positions = ['mark:question', 'I look first.', 'cat recipe.txt', 'mark:result'].map((word) =>
    body.indexOf(word),
  );
  expect(positions).not.toContain(-1);
  expect(positions).toEqual(positions.toSorted((a, b) => a - b));
}
