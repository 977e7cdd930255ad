import type { IncomingMessage } from 'node:http';
import { modelServerLimits } from './limit.ts';

/** The body of a request, or null if it is too large; then the rest is discarded. */
export async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const { bodyBytes } = modelServerLimits;
  const announced = Number(request.headers['content-length'] ?? 0);
  const parts: Buffer[] = [];
  let size = 0;
  let tooLarge = announced > bodyBytes;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    tooLarge ||= size > bodyBytes;
    if (tooLarge) parts.length = 0;
    else parts.push(part);
    // A client that sends forever is cut off.
    if (size > 2 * bodyBytes) break;
  }
  return tooLarge ? null : Buffer.concat(parts, size);
}
