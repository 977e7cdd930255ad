import type { Client } from '@pawl/protocol/client';
import type { Event } from '@pawl/schema/event';
import { uuidOf } from '@pawl/schema/id';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { outputText } from './output.ts';

/** Sends a mail to one agent and returns its id. */
export async function send(client: Client, to: string, body: string, key: string = randomUUID()): Promise<string> {
  const { mails } = await client.sendMail({ to, body }, key);
  return mails[0]?.id ?? '';
}

/** The events of one mail, oldest first, by the last part of their type: sent, delivered, read… */
export async function statesOf(client: Client, mailId: string): Promise<string[]> {
  const events = await allEvents(client);
  return events.filter((event) => event.data['mailId'] === mailId).map((event) => event.type.replace(/^\w+\./, ''));
}

/** Waits until a mail has a state. */
export async function mailIs(client: Client, mailId: string, state: string): Promise<void> {
  await waitUntil(async () => (await statesOf(client, mailId)).includes(state), {
    what: `mail ${mailId} to be ${state}`,
  });
}

export async function allEvents(client: Client): Promise<Event[]> {
  const events: Event[] = [];
  for (;;) {
    const page = await client.events({ after: events.at(-1)?.seq ?? 0, limit: 1000 });
    events.push(...page.events);
    if (page.events.length === 0) return events;
  }
}

/** How often each mail was shown to an agent: as an input line, or in the prompt of a turn. */
export async function timesShown(client: Client, agentId: string, mailIds: readonly string[]): Promise<number[]> {
  const shown = (await outputText(client, agentId)).split('\n').flatMap(echoOf);
  return mailIds.map((id) => shown.filter((echo) => echo.uuid === uuidOf(id) || echo.letters.includes(id)).length);
}

/** The order in which mails were shown to an agent. */
export async function shownOrder(client: Client, agentId: string, mailIds: readonly string[]): Promise<string[]> {
  const shown = (await outputText(client, agentId)).split('\n').flatMap(echoOf);
  return shown.flatMap(({ letters }) => letters).filter((id) => mailIds.includes(id));
}

/** All texts to an agent that match a pattern, in order: in its prompts and its input. */
export async function toldTo(client: Client, agentId: string, pattern: RegExp): Promise<string[]> {
  const echoes = (await outputText(client, agentId)).split('\n').flatMap(echoOf);
  return echoes.flatMap(({ text }) => text.match(pattern) ?? []);
}

function echoOf(line: string): { uuid: string; text: string; letters: string[] }[] {
  if (!line.includes('"isReplay"')) return [];
  const record = JSON.parse(line) as { uuid?: string; message: { content: string | { text: string }[] } };
  const { content } = record.message;
  const text = typeof content === 'string' ? content : content.map((block) => block.text).join('\n');
  const letters = [...text.matchAll(/<letter id="([\w-]{22})"/g)].map(([, id]) => id ?? '');
  return [{ uuid: record.uuid ?? '', text, letters }];
}
