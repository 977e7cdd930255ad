import { expect, test } from 'vitest';
import { conversationKinds, messageKinds, messageSchema, worktreeEndSchema } from '../src/record.ts';

test('every message is of one kind, and the kinds of a conversation come from the same list [W1-17]', () => {
  expect(new Set(messageKinds).size).toBe(messageKinds.length);
  for (const kind of conversationKinds) expect(messageKinds).toContain(kind);
  const message = {
    id: 1,
    agentId: 'a'.repeat(22),
    runId: null,
    sessionId: null,
    content: '',
    data: null,
    createdAt: 1,
  };
  for (const kind of messageKinds) expect(messageSchema.safeParse({ ...message, kind }).success).toBe(true);
  expect(messageSchema.safeParse({ ...message, kind: 'thinking' }).success).toBe(false);
});

test.each([
  [{ state: 'trashed', entry: 'shop-fox-1', at: 5 }, true],
  [{ state: 'retained', reason: '2 files are not committed', at: 5 }, true],
  [{ state: 'missing', at: 5 }, true],
  [{ state: 'trashed', at: 5 }, false],
  [{ state: 'retained', at: 5 }, false],
  [{ state: 'missing' }, false],
  [{ state: 'deleted', at: 5 }, false],
])('the end of a worktree has a state and a time: %j [7.11]', (end, valid) => {
  expect(worktreeEndSchema.safeParse(end).success).toBe(valid);
});
