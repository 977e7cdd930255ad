import { createSocket } from 'node:dgram';

/** A DNS server on 127.0.0.1:53 that knows no name, and remembers which were asked for. */
export async function recordNames(): Promise<{ names: Set<string>; close(): Promise<void> }> {
  const names = new Set<string>();
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, end } = questionIn(query);
    names.add(name);
    socket.send(noSuchName(query, end), from.port, from.address);
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(53, '127.0.0.1', resolve);
  });
  return { names, close: () => new Promise((resolve) => socket.close(() => resolve())) };
}

const headerBytes = 12;

/** The name that a query asks for, and where its question ends. */
function questionIn(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 };
}

/** The answer that there is no such name, with the question alone. */
function noSuchName(query: Buffer, end: number): Buffer {
  const answer = Buffer.from(query.subarray(0, end));
  answer.writeUInt16BE(0x8183, 2);
  answer.fill(0, 6, headerBytes);
  return answer;
}
