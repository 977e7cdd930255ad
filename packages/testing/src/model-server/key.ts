import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The API key of a request, wherever its vendor puts it; may be empty. */
export function keyOf(headers: IncomingHttpHeaders, query: URLSearchParams): string {
  const bearer = /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const named = headers['x-api-key'] ?? headers['x-goog-api-key'];
  return (typeof named === 'string' && named !== '' ? named : bearer) ?? query.get('key') ?? '';
}

/** The displayable part of a key: enough to distinguish, too little to use. */
export function fingerprintOf(key: string): string {
  return key === '' ? '' : createHash('sha256').update(key).digest('hex').slice(0, 8);
}

/** The scenario that a key names: `sk-limit-reset-a` asks for `limit-reset`, `sk-test` for none. */
export function scenarioInKey(key: string, names: string[]): string | undefined {
  const longestFirst = names.toSorted((a, b) => b.length - a.length);
  return longestFirst.find((name) => key.includes(`-${name}-`) || key.endsWith(`-${name}`));
}
