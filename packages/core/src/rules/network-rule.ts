/** A host and its port; null is any, or unknown. */
export type NetworkName = { host: string; port: number | null };

/** Ports that an allow rule without a port covers. */
const webPorts = [80, 443];

/** Reads `example.org`, `example.org:443`, `192.0.2.1` or `[2001:db8::1]:443`. Null if it is none of these. */
export function readNetworkName(text: string): NetworkName | null {
  const parts = /^(?:\[([0-9a-f:.]{2,45})\]|([^\s:/@[\]]{1,253}))(?::(\d{1,5}))?$/i.exec(text.trim());
  if (parts === null) return null;
  const port = parts[3] === undefined ? null : Number(parts[3]);
  if (port !== null && (port < 1 || port > 65_535)) return null;
  const host = (parts[1] ?? parts[2] ?? '').toLowerCase().replace(/\.$/, '');
  return host === '' ? null : { host, port };
}

/** True for a name or address in its one usual form. Other forms of an address, such as `0x7f.1`, are none. */
export function isUsualHost(host: string): boolean {
  if (host.includes(':')) return /^[0-9a-f:.]+$/.test(host);
  if (/^(?:\d{1,3}\.){3}\d{1,3}$/.test(host))
    return host.split('.').every((part) => String(Number(part)) === part && Number(part) < 256);
  return /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(host);
}

/** True if an allow rule covers a name. A rule without a port covers those of the web. */
export function allowsHost(rule: NetworkName, asked: NetworkName): boolean {
  if (!isUsualHost(asked.host) || !matchesHost(rule.host, asked.host)) return false;
  if (rule.port !== null) return rule.port === asked.port;
  return asked.port === null || webPorts.includes(asked.port);
}

/** True if a deny rule covers a name. A rule without a port covers all. */
export function deniesHost(rule: NetworkName, asked: NetworkName): boolean {
  return matchesHost(rule.host, asked.host) && (rule.port === null || asked.port === null || rule.port === asked.port);
}

/** `*.example.org` covers all names below, not `example.org` itself; `*` covers everything. */
function matchesHost(pattern: string, host: string): boolean {
  if (pattern === '*') return true;
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}
