import { createQuestionWaits } from '@pawl/daemon/questions/question-waits';
import { newId } from '@pawl/schema/id';
import type { Question } from '@pawl/schema/mail';
import { expect, test } from 'vitest';

const question = { id: newId(), question: 'which?' } as Question;
const never = new AbortController().signal;
const agentId = newId();

test('a question is awaited while a command of its asker waits; observers do not count', () => {
  const waits = createQuestionWaits();
  const onlooker = waits.await(question.id, 'onlooker');
  expect(waits.isAwaited(question.id)).toBe(false);
  const [first, second] = [waits.await(question.id, 'asker'), waits.await(question.id, 'asker')];
  first.leave();
  first.leave();
  expect(waits.isAwaited(question.id)).toBe(true);
  second.leave();
  expect(waits.isAwaited(question.id)).toBe(false);
  const version = onlooker.wakes.version();
  waits.wake(question.id);
  expect(onlooker.wakes.version()).not.toBe(version);
  onlooker.leave();
});

test('each listener is taken once, and gets one question [5.2.14]', async () => {
  const waits = createQuestionWaits();
  expect(waits.take(agentId)).toBeNull();
  const heard = waits.listen(agentId).question(10_000, never);
  const taken = waits.take(agentId);
  expect(waits.take(agentId)).toBeNull();
  expect(taken?.give(question)).toBe(true);
  expect(await heard).toBe(question);
});

test('a listener whose question was not stored continues to listen', async () => {
  const waits = createQuestionWaits();
  const heard = waits.listen(agentId).question(10_000, never);
  waits.take(agentId)?.putBack();
  expect(waits.take(agentId)?.give(question)).toBe(true);
  expect(await heard).toBe(question);
});

test('a listener that leaves after it was taken gets nothing, and the giver is told', async () => {
  const waits = createQuestionWaits();
  const leaving = new AbortController();
  const heard = waits.listen(agentId).question(10_000, leaving.signal);
  const taken = waits.take(agentId);
  leaving.abort();
  expect(taken?.give(question)).toBe(false);
  await expect(heard).rejects.toThrow();
});

test('a listener that timed out leaves, and is not taken any more', async () => {
  const waits = createQuestionWaits();
  expect(await waits.listen(agentId).question(1, never)).toBeNull();
  expect(waits.take(agentId)).toBeNull();
});
