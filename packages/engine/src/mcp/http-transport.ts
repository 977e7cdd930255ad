import { engineLimits } from '../limit.ts';
import type { HttpResponse, HttpTarget } from './http-message.ts';
import { bodyText, CutShort, sendRequest, whileAway } from './http-message.ts';
import type { ServerMessage, Transport } from './json-rpc.ts';
import { parseMessage, resultOf } from './json-rpc.ts';

export type ServerAddress = {
  target: HttpTarget;
  headers: Record<string, string>;
  /** True if a request may be repeated while the server is away: it knows repeated ones by their key. */
  patient: boolean;
};

/** Talks to a server over HTTP: each message is a request, and the answer is JSON or a short stream of events. */
export function openHttp({ target, headers, patient }: ServerAddress): Transport {
  let count = 0;
  let session = '';
  let version = '';
  const send = (message: object, signal: AbortSignal) =>
    sendRequest(target, {
      method: 'POST',
      headers: {
        host: 'url' in target ? target.url.host : 'localhost',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session === '' ? {} : { 'mcp-session-id': session }),
        ...(version === '' ? {} : { 'mcp-protocol-version': version }),
        ...headers,
      },
      body: JSON.stringify(message),
      signal,
    });
  const tell = (method: string, params: object) => {
    const over = AbortSignal.timeout(engineLimits.serverStartMs);
    send({ jsonrpc: '2.0', method, params }, over).then(
      (response) => response.drop(),
      () => {},
    );
  };
  const once = async (id: number, method: string, params: object, signal: AbortSignal) => {
    const response = await send({ jsonrpc: '2.0', id, method, params }, signal);
    if (response.status !== 200) {
      const text = await bodyText(response, engineLimits.serverMessageBytes);
      throw new Error(`It answered with status ${response.status}: ${text.slice(0, 300)}`);
    }
    session = response.header('mcp-session-id') || session;
    return await answerIn(response, id);
  };
  return {
    isDead: false,
    notify: tell,
    async request(method, params, signal) {
      const id = ++count;
      const cancel = () => tell('notifications/cancelled', { requestId: id });
      signal.addEventListener('abort', cancel, { once: true });
      try {
        const ask = () => once(id, method, params, signal);
        const result = resultOf(await (patient ? whileAway(ask, signal) : ask()));
        if (method === 'initialize') version = versionIn(result);
        return result;
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },
    close: () => Promise.resolve(),
  };
}

/** The message that answers a request. */
async function answerIn(response: HttpResponse, id: number): Promise<ServerMessage> {
  const isAnswer = (message: ServerMessage | null): message is ServerMessage =>
    message !== null && message.id === id && message.method === undefined;
  if (!response.header('content-type').startsWith('text/event-stream')) {
    const message = parseMessage(await bodyText(response, engineLimits.serverMessageBytes));
    if (isAnswer(message)) return message;
    throw new Error('Its answer is not one of the protocol.');
  }
  for await (const data of eventsIn(response)) {
    const message = parseMessage(data);
    if (!isAnswer(message)) continue;
    response.drop();
    return message;
  }
  throw new CutShort('The connection ended before the answer.');
}

/** The data of each event of a stream. */
async function* eventsIn(response: HttpResponse): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of response.pieces(engineLimits.serverMessageBytes)) {
    const blocks = `${rest}${decoder.decode(piece, { stream: true })}`.replaceAll('\r\n', '\n').split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) yield dataOf(block);
  }
  if (rest !== '') yield dataOf(rest);
}

function dataOf(block: string): string {
  const lines = block.split('\n').filter((line) => line.startsWith('data:'));
  return lines.map((line) => line.slice('data:'.length).trimStart()).join('\n');
}

function versionIn(result: unknown): string {
  const version = (result as { protocolVersion?: unknown } | null)?.protocolVersion;
  return typeof version === 'string' && /^[\w.-]{1,40}$/.test(version) ? version : '';
}
