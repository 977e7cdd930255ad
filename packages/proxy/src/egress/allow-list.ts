import { isIP } from 'node:net';
import type { Target } from './host-name.ts';
import { normalHost, parseTarget, usualPorts } from './host-name.ts';

/** One allowed host; `isAbove` stands for all names below it, and `port` null for the usual ports. */
type Entry = { host: string; isAbove: boolean; port: number | null };

/** Decides which hosts a session may reach. */
export type AllowList = {
  allows(target: Target): boolean;
  /** True if an entry names exactly this address, so that a private one is meant. */
  namesAddress(address: string, port: number): boolean;
};

/**
 * Reads entries such as `example.com`, `*.example.com`, `example.com:8443`, `10.0.0.7` and `*`. Others allow nothing. An
 * entry of `denied` wins, and covers all ports if it names none.
 */
export function readAllowList(texts: readonly string[], denied: readonly string[] = []): AllowList {
  const entries = texts.map(parseEntry).filter((entry) => entry !== null);
  const refused = denied.map(parseEntry).filter((entry) => entry !== null);
  const fits = (entry: Entry, port: number) => (entry.port === null ? usualPorts.includes(port) : entry.port === port);
  return {
    allows: ({ host, port }) =>
      entries.some((entry) => fits(entry, port) && covers(entry, host)) &&
      !refused.some((entry) => (entry.port === null || entry.port === port) && covers(entry, host)),
    namesAddress: (address, port) => entries.some((entry) => addressesOf(entry).includes(address) && fits(entry, port)),
  };
}

/** The addresses that an entry names. */
function addressesOf({ host }: Entry): string[] {
  if (host === 'localhost') return ['127.0.0.1', '::1'];
  return isIP(host) === 0 ? [] : [host];
}

/** True if an entry stands for a host: by its name, or by that of a host above. */
function covers(entry: Entry, host: string): boolean {
  if (entry.host === '*') return true;
  return entry.isAbove ? host.endsWith(`.${entry.host}`) : host === entry.host;
}

function parseEntry(text: string): Entry | null {
  if (text === '*') return { host: '*', isAbove: true, port: null };
  const isAbove = text.startsWith('*.');
  const rest = isAbove ? text.slice(2) : text;
  const target = parseTarget(rest);
  const host = target?.host ?? normalHost(rest);
  if (host === null || (isAbove && (isIP(host) !== 0 || !host.includes('.')))) return null;
  return { host, isAbove, port: target?.port ?? null };
}
