import type { HistoryPage } from '@pawl/protocol/agents/history/view';
import { idOf } from '@pawl/testing/agent-view';
import { expect, test } from 'vitest';
import { messageKindTone, messageText, messageTone } from '../../src/agents/message.ts';

type HistoryMessage = HistoryPage['messages'][number];
const message = (given: Partial<HistoryMessage>): HistoryMessage => ({
  id: 1,
  agentId: idOf(1),
  runId: null,
  sessionId: null,
  kind: 'user',
  content: 'hello',
  data: null,
  createdAt: 0,
  inherited: false,
  ...given,
});

test.each<[Partial<HistoryMessage>, string, string]>([
  [{ kind: 'user' }, 'strong', 'plain'],
  [{ kind: 'assistant' }, 'active', 'plain'],
  [{ kind: 'tool_call' }, 'muted', 'plain'],
  [{ kind: 'user', inherited: true }, 'muted', 'muted'],
  [{ kind: 'user', forgotten: 'cleared' }, 'strong', 'muted'],
])('a message of %j has the tones %s and %s', (given, kind, text) => {
  expect([messageKindTone(message(given)), messageTone(message(given))]).toEqual([kind, text]);
});

test.each<[Partial<HistoryMessage>, string]>([
  [{ content: 'a\tb' }, 'a  b'],
  [{ kind: 'tool_call', content: 'Bash ls' }, '▸ Bash ls'],
  [{ kind: 'tool_result', content: ' \n' }, '(nothing)'],
  [{ content: '', data: { label: 'here', at: 3 } }, 'label=here at=3'],
])('a message of %j reads %j', (given, text) => {
  expect(messageText(message(given))).toBe(text);
});
