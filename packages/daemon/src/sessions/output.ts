import type { OutputChunk } from '@pawl/protocol/sessions/view';
import type { LineSplitter } from '@pawl/host/output/lines';
import { createLineSplitter } from '@pawl/host/output/lines';
import type { PieceMask } from '@pawl/host/output/piece-mask';
import { createPieceMask } from '@pawl/host/output/piece-mask';
import { outputParsers } from '@pawl/providers/parser';
import { limits } from '@pawl/schema/limit';
import type { Agent, Chunk } from '@pawl/schema/record';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { chunkBefore } from '@pawl/store/sessions/chunks';
import { sessionsOf } from '@pawl/store/sessions/sessions';
import type { Database } from '@pawl/store/tables';
import { secretsOf } from './reconcile/intake-target.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';

export type OutputFormat = 'raw' | 'events';

/** Converts stored chunks, in order, into the format a reader asked for. */
export type OutputPresenter = {
  present(chunk: Chunk): Promise<OutputChunk>;
  /** The unfinished last lines, when no more output will come. */
  rest(): OutputChunk[];
};

/** A presenter for one reader. Handles lines that span chunks, wherever the reader starts. */
export function outputPresenter(platform: SessionPlatform, agent: Agent, format: OutputFormat): OutputPresenter {
  const { db } = platform.store;
  const numbers = new Map<string, number>();
  const streams = new Map<string, Stream>();
  const { parse } = outputParsers[platform.providers.find(agent.provider)?.outputFormat ?? 'text'];

  async function sessionNo(sessionId: string): Promise<number> {
    if (!numbers.has(sessionId)) {
      for (const session of await sessionsOf(db, agent.id)) numbers.set(session.id, session.no);
    }
    return numbers.get(sessionId) ?? 0;
  }

  /** The initial state for reading a stream. */
  async function streamBefore(chunk: Chunk): Promise<Pick<Stream, 'splitter' | 'mask'>> {
    return { splitter: await splitterBefore(db, chunk), mask: createPieceMask(secretsOf(platform, agent)) };
  }

  function eventOf(line: { text: string; oversized: boolean }, stream: Chunk['stream']): StreamEvent[] {
    if (line.oversized)
      return [{ type: 'unknown', text: `${line.text.slice(0, shownCharacters)}… (a line too long to show)` }];
    if (line.text === '') return [];
    return stream === 'stdout' ? parse(line.text) : [{ type: 'unknown', text: line.text }];
  }

  return {
    async present(chunk) {
      const { id, stream, offset, at } = chunk;
      const head = { id, sessionNo: await sessionNo(chunk.sessionId), stream, offset, at };
      if (format === 'raw') return { ...head, ...rawContent(chunk.bytes) };
      const key = `${chunk.sessionId} ${stream}`;
      const { splitter, mask } = streams.get(key) ?? (await streamBefore(chunk));
      streams.set(key, { splitter, mask, last: head, stream });
      const events = splitter.push(chunk.bytes).flatMap((line) => eventOf(line, stream));
      return { ...head, events: events.flatMap((event) => masked(event, mask)) };
    },
    rest: () =>
      [...streams.values()]
        .map(({ splitter, mask, last, stream }) => ({
          ...last,
          events: [...splitter.end().flatMap((line) => eventOf(line, stream)), ...held(mask)],
        }))
        .filter(({ events }) => events.length > 0),
  };
}

/**
 * An event with secrets masked. A model's text arrives in pieces, so a secret may span several and only show when they
 * are joined.
 */
function masked(event: StreamEvent, mask: PieceMask): StreamEvent[] {
  if (event.type === 'text-delta' || (event.type === 'text' && event.piece === true)) {
    const text = mask.push(event.text);
    return text === '' ? [] : [{ ...event, text }];
  }
  return event.type === 'usage' || event.type === 'session' ? [event] : [...held(mask), asShown(event)];
}

/** Leaves out the whole message of an event: it may contain images, and no reader needs it. */
function asShown(event: StreamEvent): StreamEvent {
  return 'body' in event ? { ...event, body: undefined } : event;
}

function held(mask: PieceMask): StreamEvent[] {
  const text = mask.end();
  return text === '' ? [] : [{ type: 'text-delta', text }];
}

type Stream = { splitter: LineSplitter; mask: PieceMask; last: OutputChunk; stream: Chunk['stream'] };

const shownCharacters = 200;
const newline = 0x0a;

/** A splitter positioned at the start of a chunk, with the start of its line from earlier chunks. */
async function splitterBefore(db: Database, chunk: Chunk): Promise<LineSplitter> {
  const maxLineBytes = limits.lineBytes;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  let earlier = await chunkBefore(db, chunk);
  while (earlier !== null) {
    const start = earlier.bytes.lastIndexOf(newline) + 1;
    parts.unshift(earlier.bytes.subarray(start));
    bytes += earlier.bytes.length - start;
    if (start > 0 || bytes > maxLineBytes) break;
    earlier = await chunkBefore(db, earlier);
  }
  const carry = { bytes: Buffer.concat(parts), oversized: bytes > maxLineBytes, first: earlier === null };
  return createLineSplitter({ maxLineBytes, carry });
}

/** The text of some bytes, and the bytes themselves if they are not valid text. */
function rawContent(bytes: Uint8Array): { content: string; base64?: string } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const content = buffer.toString('utf8');
  return content.includes('\u{FFFD}') ? { content, base64: buffer.toString('base64') } : { content };
}
