/** One message of a server-sent event stream. */
export type StreamMessage = { id: string | null; event: string; data: string };

/** A larger message is not ours. */
const messageCharacters = 16 * 1024 * 1024;

/** Parses server-sent events from chunks of text, split anywhere. Skips comments. */
export async function* readEventStream(chunks: AsyncIterable<string>): AsyncGenerator<StreamMessage> {
  let rest = '';
  for await (const chunk of chunks) {
    rest += chunk;
    let end: number;
    while ((end = rest.indexOf('\n\n')) !== -1) {
      const message = parseMessage(rest.slice(0, end));
      rest = rest.slice(end + 2);
      if (message !== null) yield message;
    }
    if (rest.length > messageCharacters) throw new RangeError('the event stream sent a message without an end');
  }
}

function parseMessage(block: string): StreamMessage | null {
  let id: string | null = null;
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon === 0) continue;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'id') id = value;
    else if (name === 'event') event = value;
    else if (name === 'data') data.push(value);
  }
  return data.length === 0 ? null : { id, event, data: data.join('\n') };
}
