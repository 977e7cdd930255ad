import type { OutputChunk } from '@pawl/protocol/view';
import { createLineSplitter } from '@pawl/host/lines';
import type { LineSplitter } from '@pawl/host/lines';
import { outputParsers } from '@pawl/providers/parser';
import { limits } from '@pawl/schema/limit';
import type { Agent, Chunk } from '@pawl/schema/record';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { sessionsOf } from '@pawl/store/sessions';
import type { Workshop } from '../workshop.ts';

export type OutputFormat = 'raw' | 'events';

/** Turns stored chunks into what a reader asked for. It keeps the state of unfinished lines from chunk to chunk. */
export async function outputPresenter(shop: Workshop, agent: Agent, format: OutputFormat) {
  const numbers = new Map<string, number>();
  const splitters = new Map<string, LineSplitter>();
  const { parse } = outputParsers[shop.providers.get(agent.provider ?? '').outputFormat];

  async function sessionNo(sessionId: string): Promise<number> {
    if (!numbers.has(sessionId)) {
      for (const session of await sessionsOf(shop.store.db, agent.id)) numbers.set(session.id, session.no);
    }
    return numbers.get(sessionId) ?? 0;
  }

  function eventsOf(chunk: Chunk): StreamEvent[] {
    const key = `${chunk.sessionId} ${chunk.stream}`;
    const splitter = splitters.get(key) ?? createLineSplitter({ maxLineBytes: limits.lineBytes });
    splitters.set(key, splitter);
    return splitter.push(chunk.bytes).flatMap((line) => {
      if (line.oversized)
        return [
          { type: 'unknown' as const, text: `${line.text.slice(0, shownCharacters)}… (a line too long to show)` },
        ];
      if (line.text === '') return [];
      return chunk.stream === 'stdout' ? parse(line.text) : [{ type: 'unknown' as const, text: line.text }];
    });
  }

  return async (chunk: Chunk): Promise<OutputChunk> => {
    const { id, stream, offset, at } = chunk;
    const head = { id, sessionNo: await sessionNo(chunk.sessionId), stream, offset, at };
    return format === 'raw' ? { ...head, ...rawContent(chunk.bytes) } : { ...head, events: eventsOf(chunk) };
  };
}

const shownCharacters = 200;

/** The text of some bytes, and the bytes themselves where the text cannot say them. */
function rawContent(bytes: Uint8Array): { content: string; base64?: string } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const content = buffer.toString('utf8');
  return content.includes('\u{FFFD}') ? { content, base64: buffer.toString('base64') } : { content };
}
