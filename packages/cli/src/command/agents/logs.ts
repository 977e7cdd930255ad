import { printable } from '@pawl/present/text';
import type { Client } from '@pawl/protocol/client';
import type { OutputQuery } from '@pawl/protocol/sessions/client';
import { commandClient } from '../../daemon/client.ts';
import { agentOrCurrent } from '../../agent/current-agent.ts';
import type { CommandContext } from '../../context.ts';
import { follow } from '../../terminal/follow.ts';
import { reachDaemon } from '../../daemon/launch.ts';
import type { LogView } from '../../view/log-view.ts';
import { createLogView } from '../../view/log-view.ts';

export type LogOptions = { follow?: boolean; raw?: boolean; tail?: number };

/** Shows an agent's output, and follows it with --follow. */
export async function logs(context: CommandContext, given: string | undefined, options: LogOptions): Promise<number> {
  const reference = await agentOrCurrent(context.home, given);
  const client = await reachDaemon(context.home);
  if (!options.follow) await showStored(context, client, reference, options);
  else
    await followOutput(context, reference, {
      raw: options.raw ?? false,
      ...(options.tail !== undefined && { tail: options.tail }),
    });
  return 0;
}

/** Shows stored output, page by page, from the start or only the last `tail` chunks. */
async function showStored(context: CommandContext, client: Client, id: string, options: LogOptions): Promise<void> {
  const format = options.raw ? 'raw' : 'events';
  let page = await client.output(id, options.tail === undefined ? { format } : { format, tail: options.tail });
  const view = shower(context);
  let after = 0;
  for (;;) {
    for (const chunk of page.chunks) {
      view.show(chunk);
      after = chunk.id;
    }
    if (!page.more) return view.end();
    page = await client.output(id, { format, after });
  }
}

/** Follows an agent's output until it ends, across restarts of the daemon: nothing is missed or repeated. */
export async function followOutput(
  context: CommandContext,
  id: string,
  options: { raw: boolean; tail?: number },
): Promise<void> {
  const format = options.raw ? 'raw' : 'events';
  const view = shower(context);
  let from: OutputQuery = options.tail === undefined ? {} : { tail: options.tail };
  await follow(
    async () => commandClient(context.home).followOutput(id, { ...from, format }),
    (message) => {
      if (message.type === 'ended') return 'ended';
      view.show(message.chunk);
      from = { after: message.chunk.id };
      return 'more';
    },
  );
  view.end();
}

/** Prints chunks: as records for programs, as bytes, or for people. */
function shower(context: CommandContext): LogView {
  const write = (text: string) => void process.stdout.write(text);
  const view = createLogView(context.colours, write);
  return {
    show(chunk) {
      if (context.json) return context.record('output', chunk, () => null);
      if (context.quiet) return;
      if (chunk.events !== undefined) return view.show(chunk);
      const exact = chunk.base64 === undefined ? Buffer.from(chunk.content ?? '') : Buffer.from(chunk.base64, 'base64');
      process.stdout.write(process.stdout.isTTY ? printable(exact.toString('utf8')) : exact);
    },
    end: view.end,
  };
}
