import type { Event } from '@pawl/schema/event';
import { PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../context.ts';
import { clockTime } from '../format.ts';
import { reachDaemon } from '../launch.ts';
import { printableLine } from '../terminal.ts';

export type EventOptions = { follow?: boolean; after?: number; agent?: string; tail?: number };

const defaultTail = 50;
const reconnects = 50;
const reconnectMs = 200;

/** Shows the event log, and with --follow what is added to it. */
export async function events(context: CommandContext, options: EventOptions): Promise<number> {
  const client = await reachDaemon(context.home);
  const agent = options.agent === undefined ? undefined : (await client.inspectAgent(options.agent)).agent.id;
  const about = agent === undefined ? {} : { agent };
  const from = options.after === undefined ? { tail: options.tail ?? defaultTail } : { after: options.after };
  const page = await client.events({ ...about, ...from });
  let after = options.after ?? 0;
  for (const event of page.events) {
    show(context, event);
    after = event.seq;
  }
  if (!options.follow) return 0;
  for (let failures = 0; ;) {
    try {
      const reached = await reachDaemon(context.home);
      for await (const message of reached.followEvents(after, about)) {
        failures = 0;
        if (message.type === 'gap') {
          context.say(`events are missing here; going on after ${message.lastSeq}`);
          after = message.lastSeq;
        } else {
          show(context, message.event);
          after = message.event.seq;
        }
      }
    } catch (error) {
      const lost = error instanceof PawlError && error.code === 'daemon_unreachable';
      if (!lost || ++failures > reconnects) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, reconnectMs));
  }
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
