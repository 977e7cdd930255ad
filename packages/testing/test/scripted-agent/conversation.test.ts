import { expect, test } from 'vitest';
import {
  addTurn,
  forkConversation,
  loadConversation,
  newConversation,
  saveConversation,
} from '../../src/scripted-agent/conversation.ts';
import { scriptedLimits } from '../../src/scripted-agent/limit.ts';
import { temporaryDirectory } from '../../src/temporary.ts';

const id = '0b8e7c1a-5a53-4f0e-9d3c-2f6f3b1d7a18';

test('a conversation counts every turn and remembers a bounded part of them', () => {
  const conversation = newConversation(id, null);
  for (let turn = 1; turn <= 500; turn += 1) addTurn(conversation, `${turn} ${'x'.repeat(100_000)}`);
  expect(conversation.turnsSeen).toBe(500);
  expect(conversation.turns).toHaveLength(scriptedLimits.turnsKept);
  expect(conversation.turns.at(-1)?.startsWith('500 x')).toBe(true);
  expect(conversation.task).toHaveLength(scriptedLimits.taskCharacters);
  expect(JSON.stringify(conversation).length).toBeLessThan(128 * 1024);
});

test('a turn with a known id is not added again, and ids and mails are remembered up to a bound', () => {
  const conversation = newConversation(id, null);
  expect(addTurn(conversation, 'once', 'a')).toBe(true);
  expect(addTurn(conversation, 'once', 'a')).toBe(false);
  expect(conversation).toMatchObject({ turnsSeen: 1, turns: ['once'], uuids: ['a'] });
  for (let turn = 1; turn <= 3_000; turn += 1)
    addTurn(
      conversation,
      `<mail>\n<letter id="mail-${turn}" from="x">\nHello <letter id="fake">\n</letter>\n</mail>`,
      `${turn}`,
    );
  expect(conversation.uuids).toHaveLength(scriptedLimits.uuidsKept);
  expect(conversation.letters).toHaveLength(scriptedLimits.lettersKept);
  expect(conversation.letters.at(-1)).toBe('mail-3000');
  expect(conversation.letters).not.toContain('fake');
});

test('a stored conversation is loaded unchanged', async () => {
  await using temporary = await temporaryDirectory();
  const conversation = { ...newConversation(id, '/a/b.yaml'), next: 3, written: ['a'] };
  addTurn(conversation, 'hello');
  saveConversation(temporary.path, conversation);
  expect(loadConversation(temporary.path, id)).toEqual(conversation);
  expect(loadConversation(temporary.path, id.toUpperCase())).toMatchObject({ next: 3 });
  expect(loadConversation(temporary.path, `../${id}`)).toBeUndefined();
});

test('a copy made during a call of Pawl continues after it, and a killed original repeats it', async () => {
  await using temporary = await temporaryDirectory();
  const original = { ...newConversation(id, '/a.yaml'), next: 3, turns: ['hello'], turnsSeen: 1, calling: true };
  saveConversation(temporary.path, original);
  const stored = loadConversation(temporary.path, id);
  expect(stored).toEqual(original);
  expect(forkConversation(original, 'new', '/a.yaml')).toMatchObject({ next: 4, calling: false, turns: ['hello'] });
  expect(forkConversation(original, 'new', '/b.yaml')).toMatchObject({ next: 0, turnsSeen: 1 });
  expect(forkConversation({ ...original, calling: false }, 'new', '/a.yaml')).toMatchObject({ next: 3 });
});
