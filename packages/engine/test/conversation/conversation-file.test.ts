import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { describe, expect, it } from 'vitest';
import { conversationFiles } from '../../src/conversation/conversation-file.ts';
import type { Message } from '../../src/conversation/message.ts';
import { userMessage } from '../../src/conversation/message.ts';

const first = '11111111-1111-4111-8111-111111111111';
const second = '22222222-2222-4222-8222-222222222222';

const story: Message[] = [
  userMessage('Hello', 'u1'),
  {
    role: 'assistant',
    author: 'a/b',
    parts: [
      { type: 'reasoning', text: 'Hm', vendorFacts: { anthropic: { signature: 'x' } } },
      { type: 'tool-call', id: 'c1', name: 'Read', input: { path: 'ä' } },
    ],
  },
  { role: 'tool-result', callId: 'c1', name: 'Read', text: 'ok', images: [], isError: false },
  { role: 'summary', text: 'short' },
];

describe('conversationFiles', () => {
  it('keeps messages and started calls', async () => {
    await using directory = await temporaryDirectory();
    const store = conversationFiles(directory.path);
    const conversation = store.create(first);
    for (const message of story) conversation.append(message);
    conversation.start('c1');
    conversation.close();
    const again = store.open(first);
    expect(again?.messages).toEqual(story);
    expect([...(again?.started ?? [])]).toEqual(['c1']);
    again?.close();
    expect(() => store.create(first)).toThrow('already in use');
    expect(store.open(second)).toBeNull();
    expect(store.open('../escape')).toBeNull();
  });

  it('forks a conversation that is in use, without changing it', async () => {
    await using directory = await temporaryDirectory();
    const store = conversationFiles(directory.path);
    const original = store.create(first);
    original.append(userMessage('Shared'));
    const copy = store.fork(first, second);
    copy?.append(userMessage('Own'));
    expect(copy?.messages).toHaveLength(2);
    original.append(userMessage('Later'));
    original.close();
    expect(store.open(first)?.messages.map(({ role }) => role)).toEqual(['user', 'user']);
  });

  it('opens a file that was cut at any byte, with every whole line', async () => {
    await using directory = await temporaryDirectory();
    const store = conversationFiles(directory.path);
    const conversation = store.create(first);
    for (const message of story) conversation.append(message);
    conversation.close();
    const file = join(directory.path, `${first}.jsonl`);
    const whole = readFileSync(file);
    for (let length = whole.length; length >= 0; length--) {
      truncateSync(file, length);
      const opened = store.open(first);
      const lines = whole.subarray(0, length).toString('latin1').split('\n').length - 1;
      expect(opened?.messages).toHaveLength(Math.max(0, lines - 1));
      opened?.close();
      writeFileSync(file, whole);
    }
    appendFileSync(file, '{"surprise":true}\n');
    expect(() => store.open(first)).toThrow('damaged');
  });

  it('refuses a second process, and takes over from one that has ended', async () => {
    await using directory = await temporaryDirectory();
    const store = conversationFiles(directory.path);
    store.create(first).close();
    const lock = join(directory.path, `${first}.jsonl.lock`);
    writeFileSync(lock, '1');
    expect(() => store.open(first)).toThrow('open in another process');
    for (const stale of ['4194304', 'garbage', '']) {
      writeFileSync(lock, stale);
      store.open(first)?.close();
    }
  });
});
