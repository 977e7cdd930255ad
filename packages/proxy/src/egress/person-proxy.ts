import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { proxyLimits } from '../proxy-limit.ts';
import type { Target } from './host-name.ts';
import { askForTunnel, proxyCredentials } from './ask-for-tunnel.ts';

/** Finds the proxy that a person's environment names for a host; null connects to it directly. */
export type PersonProxy = (target: Target, scheme: 'http' | 'https') => URL | null;

/** Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, as curl does. This machine is never reached through a proxy. */
export function personProxy(environment: NodeJS.ProcessEnv): PersonProxy {
  const named = (name: string) => environment[name] || environment[name.toLowerCase()] || '';
  const plain = proxyUrl(named('HTTP_PROXY'));
  const proxies = { http: plain?.protocol === 'http:' ? plain : null, https: proxyUrl(named('HTTPS_PROXY')) };
  const direct = named('NO_PROXY')
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '');
  return (target, scheme) =>
    isLocal(target.host) || direct.some((entry) => covers(entry, target)) ? null : proxies[scheme];
}

function proxyUrl(text: string): URL | null {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url : null;
}

function isLocal(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** `*`, a name with all names below it, or an address; with a port if it is for that one only. */
function covers(entry: string, { host, port }: Target): boolean {
  if (entry === '*') return true;
  const [, name = '', only] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(entry) ?? [];
  if (only !== undefined && Number(only) !== port) return false;
  const suffix = name.replace(/^\*?\./, '');
  return host === suffix || host.endsWith(`.${suffix}`);
}

/** The host and port of a proxy. */
export function placeOf({ hostname, port, protocol }: URL): { host: string; port: number } {
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

/** Connects to a host through a person's proxy. */
export async function connectThrough(proxy: URL, target: Target): Promise<Socket> {
  const place = placeOf(proxy);
  const socket =
    proxy.protocol === 'https:'
      ? connectTls({ ...place, servername: place.host })
      : connect({ ...place, allowHalfOpen: true });
  const timer = setTimeout(() => socket.destroy(new Error('no answer')), proxyLimits.connectMs);
  try {
    await askForTunnel(socket, target, proxyCredentials(proxy));
    return socket;
  } catch (error) {
    throw new Error(`through the proxy ${proxy.host}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}
