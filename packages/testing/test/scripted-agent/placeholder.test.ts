import { expect, test } from 'vitest';
import { newConversation } from '../../src/scripted-agent/conversation.ts';
import { fill, fillCommand, placeholderValues } from '../../src/scripted-agent/placeholder.ts';

const conversation = { ...newConversation('session-1', null), turnsSeen: 2, task: '<task>\nThe\ntask\n</task>\nmore' };

test('every placeholder has its value, and everything else stays', () => {
  const values = placeholderValues(conversation, '<task>\n\nfirst line\nsecond', 7);
  expect(fill('{turns}|{prompt}|{task}|{session}|{n}|{unknown}|{}', values)).toBe(
    '2|first line|The\ntask|session-1|7|{unknown}|{}',
  );
  expect(fill({ a: ['{n}', 1, null, { b: '{turns}' }] }, values)).toEqual({ a: ['7', 1, null, { b: '2' }] });
  expect(fill('{n}', placeholderValues(conversation, '', undefined))).toBe('{n}');
});

test('the prompt is cut to 200 characters', () => {
  expect(placeholderValues(conversation, 'x'.repeat(500), undefined)['prompt']).toHaveLength(200);
});

test('a value is not filled again', () => {
  expect(fill('{prompt}', placeholderValues(conversation, '{turns}', undefined))).toBe('{turns}');
});

test('a command refers to foreign text through its environment', () => {
  const values = placeholderValues(conversation, '$(touch pwned)', 3);
  expect(fillCommand('echo "{prompt}" {n}', values)).toEqual({
    command: 'echo "${SCRIPTED_PROMPT}" 3',
    environment: { SCRIPTED_PROMPT: '$(touch pwned)' },
  });
  expect(fillCommand('rm {prompt}', { prompt: '-rf' }).command).toBe('rm ${SCRIPTED_PROMPT}');
});
