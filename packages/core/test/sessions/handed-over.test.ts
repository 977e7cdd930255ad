import type { ConversationMessage } from '@pawl/schema/conversation/message';
import type { Message } from '@pawl/schema/record';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { conversationOf } from '../../src/agents/history.ts';
import { handedOver } from '../../src/sessions/handed-over.ts';
import { aMessage } from '../fixture.ts';

type Row = Partial<Message> & { body?: unknown };

function translate(...rows: Row[]): ConversationMessage[] {
  const bodies = new Map<number, string>();
  const history = rows.map(({ body, ...row }, index) => {
    if (body !== undefined) bodies.set(index + 1, typeof body === 'string' ? body : JSON.stringify(body));
    return aMessage({ id: index + 1, ...row });
  });
  return handedOver(conversationOf(history), bodies);
}

const user = (content: string): Row => ({ kind: 'user', content });
const says = (content: string, answer?: string): Row => ({
  kind: 'assistant',
  content,
  data: answer === undefined ? null : { answer },
});
const calls = (toolId: string, name: string, input: string, answer?: string): Row => ({
  kind: 'tool_call',
  content: `${name} ${input}`,
  data: { toolId, name, ...(answer === undefined ? {} : { answer }) },
});
const result = (toolId: string, content: string, isError = false): Row => ({
  kind: 'tool_result',
  content,
  data: { toolId, isError },
});
const callPart = (id: string, name: string, input: unknown) => ({ type: 'tool-call', id, name, input });
const toolResult = (callId: string, name: string, text: string) => ({
  role: 'tool-result',
  callId,
  name,
  text,
  images: [],
  isError: false,
});
const userText = (text: string) => ({ role: 'user', parts: [{ type: 'text', text }], uuid: null });

describe('a conversation for any model [7.20]', () => {
  test('is the same for an answer of the engine, reasoning and facts of its vendor included', () => {
    const answer = {
      role: 'assistant',
      author: 'anthropic/claude',
      parts: [
        { type: 'reasoning', text: 'hm', vendorFacts: { anthropic: { signature: 'x' } } },
        { type: 'text', text: 'I look.' },
        callPart('c1', 'Read', { path: 'a', limit: 3 }),
        callPart('c2', 'Read', { path: 'b' }),
      ],
    };
    const image = { type: 'image', mediaType: 'image/png', base64: 'AAAA' };
    const seen = { ...toolResult('c1', 'Read', 'An image.'), images: [image] };
    expect(
      translate(
        user('Look.'),
        says('I look.', 'm1'),
        calls('c1', 'Read', 'a', 'm1'),
        { ...calls('c2', 'Read', 'b', 'm1'), body: answer },
        { ...result('c1', 'An image.'), body: seen },
        result('c2', 'bee'),
      ),
    ).toEqual([userText('Look.'), answer, seen, toolResult('c2', 'Read', 'bee')]);
  });

  test('joins the parts of a CLI’s answer, with whole inputs', () => {
    const body = (id: string, input: object) => ({
      role: 'assistant',
      author: '',
      parts: [callPart(id, 'Edit', input)],
    });
    expect(
      translate(
        says('I edit.'),
        { ...calls('t1', 'Edit', 'a.ts'), body: body('t1', { file_path: 'a.ts', old_string: 'x' }) },
        { ...calls('t2', 'Edit', 'b.ts'), body: body('t2', { file_path: 'b.ts' }) },
        result('t1', 'ok'),
        result('t2', 'ok'),
      ),
    ).toEqual([
      {
        role: 'assistant',
        author: '',
        parts: [
          { type: 'text', text: 'I edit.' },
          callPart('t1', 'Edit', { file_path: 'a.ts', old_string: 'x' }),
          callPart('t2', 'Edit', { file_path: 'b.ts' }),
        ],
      },
      toolResult('t1', 'Edit', 'ok'),
      toolResult('t2', 'Edit', 'ok'),
    ]);
  });

  test('names calls without an id, and calls with the same one', () => {
    const messages = translate(
      ...[1, 2].flatMap((number) => [calls('', 'shell: x', `echo ${number}`), result('', `said ${number}`)]),
      ...[3, 4].flatMap((number) => [calls('0', 'shell', `echo ${number}`), result('0', `said ${number}`)]),
    );
    expect(
      messages.flatMap((message) => (message.role === 'tool-result' ? [[message.callId, message.text]] : [])),
    ).toEqual([
      ['call', 'said 1'],
      ['call_2', 'said 2'],
      ['0', 'said 3'],
      ['0_2', 'said 4'],
    ]);
    expect(messages[0]).toMatchObject({ parts: [callPart('call', 'shell__x', { input: 'echo 1' })] });
  });

  test('puts what was said while a tool ran after its result', () => {
    const messages = translate(calls('t', 'Bash', 'sleep 1'), user('One more thing.'), result('t', 'slept'));
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool-result', 'user']);
  });

  test('tells notes of Pawl apart from people', () => {
    expect(translate({ kind: 'system', content: 'It was stopped.' })).toEqual([
      userText('Note of Pawl, not of a person: It was stopped.'),
    ]);
  });

  test('begins with the last summary', () => {
    expect(translate(user('a'), { kind: 'summary', content: 'in short' }, user('b'))).toEqual([
      { role: 'summary', text: 'in short' },
      userText('b'),
    ]);
  });

  test('keeps the text of an answer that was cut by a fork or a rewind, and drops its call', () => {
    const body = {
      role: 'assistant',
      author: 'v/m',
      parts: [{ type: 'reasoning', text: 'hm' }, callPart('c1', 'Read', {}), callPart('c2', 'Bash', {})],
    };
    expect(translate(says('I look.', 'm1'))).toEqual([
      { role: 'assistant', author: '', parts: [{ type: 'text', text: 'I look.' }] },
    ]);
    const rows = [calls('c1', 'Read', 'a', 'm1'), { ...calls('c2', 'Bash', 'pawl mark', 'm1'), body }];
    expect(translate(...rows, result('c2', 'marked'))).toEqual([
      { role: 'assistant', author: 'v/m', parts: [callPart('c2', 'Bash', {})] },
      toolResult('c2', 'Bash', 'marked'),
    ]);
  });

  test.each(['{"role":"robot"}', 'no JSON', '[]', '{"role":"user","parts":[],"uuid":null}'])(
    'shows the text of a message whose body is %s',
    (body) => {
      const messages = translate({ ...calls('t', 'Bash', 'ls', 'm1'), body }, { ...result('t', 'a'), body });
      expect(messages).toEqual([
        { role: 'assistant', author: '', parts: [callPart('t', 'Bash', { input: 'ls' })] },
        toolResult('t', 'Bash', 'a'),
      ]);
    },
  );

  test('is well formed, whatever was stored: unique calls, each followed by its results at once', () => {
    const kinds = ['user', 'assistant', 'tool_call', 'tool_result', 'system', 'summary', 'mark'] as const;
    const row = fc.record({
      kind: fc.constantFrom(...kinds),
      content: fc.string(),
      data: fc.option(fc.record({ toolId: fc.constantFrom('', 'a', 'b'), name: fc.string() })),
    });
    fc.assert(
      fc.property(fc.array(row), (rows) => {
        const messages = translate(...rows);
        let open: string[] = [];
        const used = new Set<string>();
        for (const message of messages) {
          if (message.role === 'tool-result') {
            expect(open).toContain(message.callId);
            open = open.filter((id) => id !== message.callId);
            continue;
          }
          expect(open).toEqual([]);
          if (message.role !== 'assistant') continue;
          for (const part of message.parts) {
            if (part.type !== 'tool-call') continue;
            expect(used.has(part.id)).toBe(false);
            used.add(part.id);
            open.push(part.id);
          }
        }
      }),
    );
  });
});
