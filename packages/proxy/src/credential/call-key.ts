import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

const bearer = /^Bearer\s+(\S+)$/i;
const keyHeaders = ['x-api-key', 'x-goog-api-key'] as const;
const keyParameter = 'key';

/** Headers that belong to one connection, or that the proxy sets itself. */
const ownHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
  'accept-encoding',
]);

/** The token with which a CLI calls, from wherever its vendor puts keys; empty if there is none. */
export function tokenOf(headers: IncomingHttpHeaders, url: URL): string {
  for (const name of keyHeaders) if (typeof headers[name] === 'string') return headers[name];
  return bearer.exec(headers.authorization ?? '')?.[1] ?? url.searchParams.get(keyParameter) ?? '';
}

/** A call as it goes to the provider: the key in place of the token, and no other credentials. */
export function withKey(
  headers: IncomingHttpHeaders,
  url: URL,
  { token, key }: { token: string; key: string },
): { headers: OutgoingHttpHeaders; path: string } {
  const sent: OutgoingHttpHeaders = {};
  const isOwn = namedByConnection(headers);
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || ownHeaders.has(name) || isOwn.has(name)) continue;
    if (name === 'authorization') {
      if (bearer.exec(String(value))?.[1] === token) sent[name] = `Bearer ${key}`;
    } else if ((keyHeaders as readonly string[]).includes(name)) {
      if (value === token) sent[name] = key;
    } else sent[name] = value;
  }
  // The tokens of a compressed answer could not be counted as it passes.
  sent['accept-encoding'] = 'identity';
  const search = new URLSearchParams(url.search);
  const isInUrl = search.has(keyParameter);
  if (isInUrl) search.delete(keyParameter);
  if (isInUrl && url.searchParams.get(keyParameter) === token) search.set(keyParameter, key);
  // Unchanged unless it had a key: encoding it again may change its bytes.
  const query = isInUrl ? `?${search.toString()}` : url.search;
  return { headers: sent, path: `${url.pathname}${query}` };
}

/** The headers of an answer without those of the provider's connection. */
export function answerHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const isOwn = namedByConnection(headers);
  const kept = Object.entries(headers).filter(([name]) => !isOwn.has(name) && !ownHeaders.has(name));
  return Object.fromEntries(kept);
}

/** Headers that `Connection` declares to be of this connection only. */
function namedByConnection({ connection = '' }: IncomingHttpHeaders): Set<string> {
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
}
