import type { OutputChunk } from '@pawl/protocol/view';
import type { StreamEvent } from '@pawl/schema/stream-event';
import type { Client, OutputQuery } from '@pawl/protocol/client';
import { createClient } from '@pawl/protocol/client';
import type { CommandContext } from '../context.ts';
import { follow } from '../follow.ts';
import { clockTime } from '../format.ts';
import { reachDaemon } from '../launch.ts';
import type { Palette } from '../terminal.ts';
import { printable, printableLine } from '../terminal.ts';

export type LogOptions = { follow?: boolean; raw?: boolean; tail?: number };

/** Shows what an agent has printed, and with --follow what it prints from now on. */
export async function logs(context: CommandContext, reference: string, options: LogOptions): Promise<number> {
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
  let after = 0;
  for (;;) {
    for (const chunk of page.chunks) {
      show(context, chunk);
      after = chunk.id;
    }
    if (!page.more) return;
    page = await client.output(id, { format, after });
  }
}

/** Follows an agent's output until it has ended, over restarts of the daemon: nothing is missed, nothing shown twice. */
export async function followOutput(
  context: CommandContext,
  id: string,
  options: { raw: boolean; tail?: number },
): Promise<void> {
  const format = options.raw ? 'raw' : 'events';
  let from: OutputQuery = options.tail === undefined ? {} : { tail: options.tail };
  await follow(
    async () => createClient(context.home).followOutput(id, { ...from, format }),
    (message) => {
      if (message.type === 'ended') return 'ended';
      show(context, message.chunk);
      from = { after: message.chunk.id };
      return 'more';
    },
  );
}

function show(context: CommandContext, chunk: OutputChunk): void {
  if (context.json) return context.record('output', chunk, () => null);
  if (context.quiet) return;
  if (chunk.events !== undefined) {
    for (const event of chunk.events) {
      const line = describe(event, context.colours);
      if (line !== null) process.stdout.write(`${context.colours.dim(clockTime(chunk.at))} ${line}\n`);
    }
    return;
  }
  const exact = chunk.base64 === undefined ? Buffer.from(chunk.content ?? '') : Buffer.from(chunk.base64, 'base64');
  process.stdout.write(process.stdout.isTTY ? printable(exact.toString('utf8')) : exact);
}

/** One line, or a few, that tell what an agent did. Null for what a person need not see. */
function describe(event: StreamEvent, colours: Palette): string | null {
  switch (event.type) {
    case 'text':
    case 'text-delta':
      return printable(event.text);
    case 'thinking':
      return colours.dim(printable(event.text));
    case 'tool-call':
      return `${colours.cyan('▸')} ${colours.bold(printableLine(event.name))} ${printableLine(event.input)}`;
    case 'tool-result':
      return event.text.trim() === ''
        ? null
        : `  ${(event.isError ? colours.red : colours.dim)(printable(event.text.trimEnd()).replaceAll('\n', '\n  '))}`;
    case 'limit':
      return colours.yellow(`usage limit${event.until === null ? '' : ` until ${clockTime(event.until)}`}`);
    case 'retry':
      return colours.yellow(printable(event.text));
    case 'result':
      return event.ok ? colours.green('■ turn ended') : colours.red(`■ ${printable(event.text)}`);
    case 'unknown':
      return event.text.trim() === '' ? null : printable(event.text);
    default:
      return null;
  }
}
