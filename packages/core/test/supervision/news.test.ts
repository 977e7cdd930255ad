import { eventTypes } from '@pawl/schema/event';
import { expect, test } from 'vitest';
import type { NewsEvent } from '../../src/supervision/news.ts';
import { isNews, mailIn, newsEvents } from '../../src/supervision/news.ts';
import { idOf } from '../fixture.ts';

const reader = { id: idOf('reader'), wakesByMail: true };

function event(type: NewsEvent['type'], given: Partial<NewsEvent> = {}): NewsEvent {
  return { type, agentId: idOf('other'), data: {}, class: 'ephemeral', ...given };
}

test('tasks, the fleet and the work of others are news [7.21]', () => {
  for (const type of newsEvents.filter((each) => each !== 'mail.sent'))
    expect(isNews(event(type), reader), type).toBe(true);
  expect(isNews(event('task.added', { agentId: null, class: null }), reader)).toBe(true);
});

test("other events, such as output, others' mail and nudges, are not", () => {
  for (const type of eventTypes.filter((each) => !newsEvents.includes(each)))
    expect(isNews(event(type), reader), type).toBe(false);
  expect(isNews(event('mail.sent', { data: { kind: 'message' } }), { ...reader, wakesByMail: false })).toBe(false);
});

test("an agent's own actions are not news to it", () => {
  const { id } = reader;
  expect(isNews(event('task.added', { agentId: id }), reader)).toBe(false);
  expect(isNews(event('agent.forked', { data: { parentId: id } }), reader)).toBe(false);
  expect(isNews(event('agent.killed', { data: { killedBy: id } }), reader)).toBe(false);
  expect(isNews(event('run.ended', { agentId: id }), reader)).toBe(false);
});

test('turns of persistent agents are not news, or they would keep each other awake [6.2.3]', () => {
  expect(isNews(event('run.ended', { class: 'persistent' }), reader)).toBe(false);
  expect(isNews(event('agent.waiting', { class: 'persistent' }), reader)).toBe(false);
  expect(isNews(event('agent.stuck', { class: 'persistent' }), reader)).toBe(true);
});

test('mail is news if it does not wake by itself; a nudge never is', () => {
  const mail = (kind: string) => event('mail.sent', { agentId: reader.id, class: 'persistent', data: { kind } });
  const patient = { ...reader, wakesByMail: false };
  expect(isNews(mail('message'), reader)).toBe(false);
  expect(isNews(mail('message'), patient)).toBe(true);
  expect(isNews(mail('completion'), patient)).toBe(true);
  expect(isNews(mail('system'), reader), 'what Pawl tells begins no turn').toBe(true);
  expect(isNews(mail('nudge'), patient)).toBe(false);
  expect(mailIn(event('mail.sent', { data: { mailId: 'm' } }))).toBe('m');
  expect(mailIn(event('task.added', { data: { mailId: 'm' } }))).toBeNull();
});
