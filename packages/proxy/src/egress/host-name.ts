import { isIP } from 'node:net';

/** A host in its one normal form: lower case, ASCII, an address in its usual notation without brackets. */
export type Target = { host: string; port: number };

/** Ports that a name without one stands for. */
export const usualPorts: readonly number[] = [443, 80];

/**
 * Reads `host:port`. The URL standard turns letters to lower case, other scripts to punycode, and every notation of an
 * IPv4 address (`0x7f.1`, `2130706433`) to the usual one. Null: it is no such thing.
 */
export function parseTarget(text: string): Target | null {
  const [, name = '', port = ''] = /^(\[[0-9a-fA-F:.%]+\]|[^:/?#@\\\s]+):(\d{1,5})$/.exec(text) ?? [];
  const host = normalHost(name);
  const number = Number(port);
  return host === null || number < 1 || number > 65_535 ? null : { host, port: number };
}

/** The normal form of a host without a port, or null. */
export function normalHost(text: string): string | null {
  if (text === '' || /[/?#@\\\s%]/.test(text)) return null;
  let host: string;
  try {
    host = new URL(`http://${text}`).hostname;
  } catch {
    return null;
  }
  if (host.startsWith('[')) return host.slice(1, -1);
  // `example.com.` is the same host, and would not match the name without the dot.
  const name = host.endsWith('.') ? host.slice(0, -1) : host;
  return isIP(name) !== 0 || /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/.test(name)
    ? name
    : null;
}
