import { clockTime } from '@pawl/present/amount';
import { printableLine } from '@pawl/present/text';
import type { Client } from '@pawl/protocol/client';
import type { Event } from '@pawl/schema/event';
import type { CommandContext } from '../../context.ts';
import { follow } from '../../terminal/follow.ts';
import { reachDaemon } from '../../daemon/launch.ts';
import { commandClient } from '../../daemon/client.ts';

export type EventOptions = { follow?: boolean; after?: number; agent?: string; tail?: number };

const defaultTail = 50;

/** Shows the event log, and follows it with --follow. */
export async function events(context: CommandContext, options: EventOptions): Promise<number> {
  const client = await reachDaemon(context.home);
  const about = options.agent === undefined ? {} : { agent: options.agent };
  const from = options.after === undefined ? { tail: options.tail ?? defaultTail } : { after: options.after };
  let after = await showStored(context, client, about, from);
  if (!options.follow) return 0;
  await follow(
    async () => commandClient(context.home).followEvents(after, about),
    (message) => {
      if (message.type === 'gap') {
        context.say(`events are missing here; continuing after ${message.lastSeq}`);
        after = message.lastSeq;
      } else {
        show(context, message.event);
        after = message.event.seq;
      }
      return 'more';
    },
  );
  return 0;
}

/** Prints the log up to now, page by page, and returns the last position. */
async function showStored(
  context: CommandContext,
  client: Client,
  about: { agent?: string },
  from: { after: number } | { tail: number },
): Promise<number> {
  let page = await client.events({ ...about, ...from });
  let seen = 'after' in from ? from.after : page.lastSeq;
  while (page.events.length > 0) {
    for (const event of page.events) show(context, event);
    seen = page.events.at(-1)?.seq ?? seen;
    if (seen >= page.lastSeq) break;
    page = await client.events({ ...about, after: seen });
  }
  return seen;
}

function show(context: CommandContext, event: Event): void {
  const { colours } = context;
  context.record('event', event, () => {
    const data = Object.entries(event.data)
      .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .join(' ');
    const about = event.agentId === null ? '' : ` ${event.agentId.slice(0, 6)}`;
    return `${colours.dim(String(event.seq).padStart(6))} ${colours.dim(clockTime(event.at))} ${colours.bold(event.type)}${about} ${printableLine(data)}`;
  });
}
