import { describe, expect, it } from 'vitest';
import type { Message } from '../../src/conversation/message.ts';
import { userMessage } from '../../src/conversation/message.ts';
import { modelPrompt } from '../../src/conversation/model-prompt.ts';
import { openCalls } from '../../src/conversation/open-calls.ts';

const target = { author: 'anthropic/claude', takesImages: true };
const image = { type: 'image' as const, mediaType: 'image/png', base64: 'AAAA' };
const call = { type: 'tool-call' as const, id: 'toolu_1', name: 'Read', input: { path: 'a' } };

function assistant(parts: Extract<Message, { role: 'assistant' }>['parts'], author = target.author): Message {
  return { role: 'assistant', parts, author };
}

function result(callId: string, text = 'found'): Message {
  return { role: 'tool-result', callId, name: 'Read', text, images: [], isError: false };
}

describe('modelPrompt', () => {
  it('keeps reasoning and its signature for its author only', () => {
    const vendorFacts = { anthropic: { signature: 'abc' } };
    const thought = assistant([
      { type: 'reasoning', text: 'Hm.', vendorFacts },
      { type: 'text', text: 'Yes.' },
    ]);
    const own = modelPrompt('', [thought], target);
    expect(own[0]?.content).toEqual([
      { type: 'reasoning', text: 'Hm.', providerOptions: vendorFacts },
      { type: 'text', text: 'Yes.' },
    ]);
    const other = modelPrompt('', [thought], { ...target, author: 'google/gemini' });
    expect(other[0]?.content).toEqual([{ type: 'text', text: 'Yes.' }]);
  });

  it('starts at the last summary', () => {
    const messages: Message[] = [userMessage('old'), { role: 'summary', text: 'They said hello.' }, userMessage('new')];
    const prompt = modelPrompt('Be brief.', messages, target);
    expect(prompt.map(({ role }) => role)).toEqual(['system', 'user', 'user']);
    expect(JSON.stringify(prompt)).toContain('They said hello.');
    expect(JSON.stringify(prompt)).not.toContain('old');
  });

  it('answers every open call, and drops results without a call', () => {
    const second = { ...call, id: 'toolu_2' };
    const prompt = modelPrompt('', [assistant([call, second]), result('toolu_1'), result('stranger')], target);
    const results = prompt.flatMap((message) => (message.role === 'tool' ? message.content : []));
    expect(results.map((part) => (part.type === 'tool-result' ? part.toolCallId : ''))).toEqual(['toolu_2', 'toolu_1']);
    expect(prompt).toHaveLength(2);
  });

  it('replaces ids that some vendor refuses, on both sides alike', () => {
    const odd = { ...call, id: 'a/b '.repeat(30) };
    const prompt = modelPrompt('', [assistant([odd]), result(odd.id)], target);
    const ids = JSON.stringify(prompt).match(/"toolCallId":"(call_[0-9a-f]{24})"/g);
    expect(ids).toHaveLength(2);
    expect(ids?.[0]).toBe(ids?.[1]);
  });

  it('wraps input that is no object', () => {
    const prompt = modelPrompt('', [assistant([{ ...call, input: '{"path":' }]), result('toolu_1')], target);
    expect(prompt[0]?.content[0]).toMatchObject({ input: { malformed: '{"path":' } });
  });

  it('shows images to models that see, and names them to others', () => {
    const message: Message = { role: 'user', parts: [image], uuid: null };
    expect(modelPrompt('', [message], target)[0]?.content[0]).toMatchObject({ type: 'file', mediaType: 'image/png' });
    const blind = modelPrompt('', [message], { ...target, takesImages: false });
    expect(JSON.stringify(blind)).toContain('cannot see');
  });

  it('leaves out empty messages', () => {
    expect(modelPrompt('', [assistant([]), userMessage('')], target)).toEqual([]);
  });
});

describe('openCalls', () => {
  it('finds the calls without a result', () => {
    const open = openCalls([assistant([call, { ...call, id: 'toolu_2' }]), result('toolu_1')]);
    expect(open.map(({ id }) => id)).toEqual(['toolu_2']);
  });
});
