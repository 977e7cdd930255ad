import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Json } from './json.ts';
import type { Answer, Frame, WireFault } from './reply.ts';

/** Sends a value as JSON. */
export function sendJson(
  response: ServerResponse,
  status: number,
  value: Json,
  headers: Record<string, string> = {},
): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { ...headers, 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

/** Sends a failure in the vendor's format. */
export function sendFault(response: ServerResponse, { status, headers, body }: WireFault): void {
  sendJson(response, status, body, headers);
}

/** Sends an answer at once, unless it should break off or be invalid JSON. */
export async function sendAnswer(response: ServerResponse, answer: Answer, value: Json): Promise<void> {
  await pause(response, answer.chunkMs);
  if (response.destroyed) return;
  if (answer.ending === 'whole') return sendJson(response, 200, value);
  const body = Buffer.from(JSON.stringify(value));
  const half = body.subarray(0, Math.floor(body.length / 2));
  response.setHeader('content-type', 'application/json');
  if (answer.ending === 'malformed') return void response.end(half);
  response.setHeader('content-length', body.length);
  response.write(half, () => response.destroy());
}

/** A vendor's event format: server-sent events, or one growing JSON array. */
export type StreamStyle = 'events' | 'array';

/** Streams an answer, no faster than its reader; stops when the reader leaves. */
export async function sendStream(
  response: ServerResponse,
  answer: Answer,
  frames: Frame[],
  style: StreamStyle,
): Promise<void> {
  const type = style === 'events' ? 'text/event-stream; charset=utf-8' : 'application/json';
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' });
  response.flushHeaders();
  const middle = Math.ceil(frames.length / 2);
  for (const [index, frame] of frames.entries()) {
    await pause(response, answer.chunkMs);
    if (response.destroyed) return;
    if (index === middle && answer.ending === 'cut') {
      // Flush before the connection closes.
      await new Promise((resolve) => response.write(' ', resolve));
      return void response.destroy();
    }
    const text = style === 'events' ? eventText(frame) : `${index === 0 ? '[' : ',\r\n'}${JSON.stringify(frame.data)}`;
    // Some clients ignore one broken event, so no good one follows.
    const sent = index >= middle && answer.ending === 'malformed' ? broken(text) : text;
    if (!response.write(sent)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
  response.end(style === 'array' ? ']' : '');
}

function eventText({ event, data }: Frame): string {
  const name = event === undefined ? '' : `event: ${event}\n`;
  return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

/** An event with truncated JSON. */
function broken(text: string): string {
  return `${text.trimEnd().slice(0, -Math.min(12, Math.floor(text.length / 3)))}\n\n`;
}

async function pause(response: ServerResponse, ms: number): Promise<void> {
  if (ms <= 0 || response.destroyed) return;
  await new Promise<void>((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      response.off('close', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    response.once('close', finish);
  });
}
