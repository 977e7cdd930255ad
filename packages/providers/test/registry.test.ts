import { expect, test } from 'vitest';
import { outputParsers } from '../src/parser.ts';
import { providerRegistry } from '../src/registry.ts';
import { scriptedPreset } from '../src/scripted.ts';

const scripted = scriptedPreset(['node', 'agent.ts'], '/state');
const other = { ...scripted, name: 'other' };
const providers = providerRegistry([scripted, other]);

test('a provider is found by its name; one that is not known any more is null', () => {
  expect(providers.get('other')).toBe(other);
  expect(providers.find('other')).toBe(other);
  expect(providers.find('gone')).toBeNull();
  expect(providers.find(null)).toBeNull();
});

test.each(['Scripted', 'constructor', '__proto__', ''])('the name %j is answered with the ones there are', (name) => {
  expect(() => providers.get(name)).toThrow(
    expect.objectContaining({ code: 'unknown_provider', hint: 'Known providers: scripted, other.' }),
  );
});

test('only the start of a long name is repeated', () => {
  expect(() => providers.get('x'.repeat(10_000))).toThrow(/^.{1,150}$/);
});

test('the scripted preset starts the given program and keeps its state where it is told', () => {
  expect(scripted.command.slice(0, 2)).toEqual(['node', 'agent.ts']);
  expect(Object.values(scripted.env)).toEqual(['/state']);
});

test('every output format has a parser; plain text is its own meaning', () => {
  expect(outputParsers[scripted.outputFormat].parse('{"type":"assistant","message":{"content":"hi"}}')).toEqual([
    { type: 'text', text: 'hi' },
  ]);
  expect(outputParsers.text.parse('{"type":"result"}')).toEqual([{ type: 'text', text: '{"type":"result"}' }]);
});

test('every kind of line that is part of a conversation has one of the texts by which it is found', () => {
  const { parse, telling, conversation } = outputParsers['claude-stream-json'];
  const block = (value: object) => ({ message: { content: [value] } });
  const lines = [
    { type: 'assistant', ...block({ type: 'text', text: 'hi' }) },
    { type: 'assistant', ...block({ type: 'tool_use', id: 't1', name: 'Bash', input: {} }) },
    { type: 'user', ...block({ type: 'tool_result', tool_use_id: 't1', content: 'ok' }) },
    { type: 'stream_event', event: { delta: { type: 'text_delta', text: 'h' } } },
  ].map((value) => JSON.stringify(value));
  expect(lines.flatMap(parse).map(({ type }) => type)).toEqual(['text', 'tool-call', 'tool-result', 'text-delta']);
  for (const line of lines) {
    expect(conversation.some((text) => line.includes(text))).toBe(true);
    expect(telling.some((text) => line.includes(text))).toBe(false);
  }
  expect(telling.some((text) => '{"type":"result"}'.includes(text))).toBe(true);
  expect(outputParsers.text.conversation).toEqual([]);
});
