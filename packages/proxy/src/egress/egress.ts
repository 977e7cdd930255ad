import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Grant } from '@pawl/schema/proxy';
import { notListed } from '@pawl/schema/proxy';
import type { Grants } from '../grants.ts';
import { proxyLimits } from '../proxy-limit.ts';
import type { SessionRecords } from '../session-record.ts';
import { readAllowList } from './allow-list.ts';
import type { Target } from './host-name.ts';
import type { PersonProxy } from './person-proxy.ts';
import { createPrivateAddresses } from './private-address.ts';

/** A refusal with its HTTP status, or the addresses that were checked and may be connected to. */
export type Passage =
  | { ok: true; grant: Grant; addresses: string[]; through: URL | null }
  | { ok: false; status: number; reason: string };

export type Egress = {
  /** Decides whether the session of a request may connect to a host. */
  passage(request: IncomingMessage, target: Target, scheme: 'http' | 'https'): Promise<Passage>;
};

export type EgressParts = {
  grants: Grants;
  records: SessionRecords;
  /** Finds the addresses of a name. */
  resolve?: (host: string) => Promise<string[]>;
  /** A person's own proxy, through which hosts are reached. */
  personProxy?: PersonProxy;
};

export function createEgress({
  grants,
  records,
  resolve = addressesOf,
  personProxy = () => null,
}: EgressParts): Egress {
  const isPrivate = createPrivateAddresses();

  async function check(grant: Grant, target: Target, through: URL | null): Promise<Passage> {
    const { host, port } = target;
    const refuse = (reason: string): Passage => {
      records.noteRefused(grant, host, port, reason);
      return { ok: false, status: 403, reason };
    };
    const list = readAllowList(grant.network?.allow ?? [], grant.network?.deny ?? []);
    if (!list.allows(target)) return refuse(notListed);
    const addresses = await resolve(host).catch(() => []);
    // Behind a person's proxy names may only be known there.
    if (addresses.length === 0 && through === null)
      return { ok: false, status: 502, reason: 'the name has no address' };
    // One private address is enough: a name that changes its answers must not lead to a local service.
    const isOwn = readAllowList(grant.network?.own ?? []).allows(target);
    const closed = isOwn
      ? undefined
      : addresses.find((address) => isPrivate(address) && !list.namesAddress(address, port));
    if (closed !== undefined) return refuse(`it leads to the private address ${closed}`);
    return { ok: true, grant, addresses: addresses.slice(0, proxyLimits.addresses), through };
  }

  return {
    async passage(request, target, scheme) {
      const grant = await grants.find(proxyToken(request));
      if (grant === null) return { ok: false, status: 407, reason: 'this is no token of a running session' };
      if (grant.network === null)
        return { ok: false, status: 403, reason: 'this session has no network through the proxy' };
      return check(grant, target, personProxy(target, scheme));
    },
  };
}

/** The token in `Proxy-Authorization: Basic session:TOKEN`. */
function proxyToken({ headers }: IncomingMessage): string {
  const [, encoded = ''] = /^Basic\s+([A-Za-z0-9+/=]+)$/i.exec(headers['proxy-authorization'] ?? '') ?? [];
  return Buffer.from(encoded, 'base64')
    .toString('latin1')
    .replace(/^[^:]*:/, '');
}

async function addressesOf(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  const found: LookupAddress[] = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}
