import { BlockList, isIPv4 } from 'node:net';

/** Networks that are not the internet: this machine, local ones, metadata services, multicast, reserved. */
const networks4: [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
const networks6: [string, number][] = [
  // Everything outside of global unicast; within it: Teredo, and 6to4, which leads to an IPv4 address.
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 32],
  ['2002::', 16],
];

/** Prefixes of addresses that contain an IPv4 address in their last 32 bits. */
const mapped = [/^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i, /^64:ff9b::([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i];
const dotted = /^(?:::ffff:|64:ff9b::)(\d+\.\d+\.\d+\.\d+)$/i;

function blockList(networks: [string, number][], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const [network, bits] of networks) list.addSubnet(network, bits, family);
  return list;
}

/** Creates the test for addresses that a name must not lead to. */
export function createPrivateAddresses(): (address: string) => boolean {
  const [blocked4, blocked6] = [blockList(networks4, 'ipv4'), blockList(networks6, 'ipv6')];
  return function isPrivate(address) {
    if (isIPv4(address)) return blocked4.check(address, 'ipv4');
    const inner = innerAddress(address);
    return inner === null ? blocked6.check(address.replace(/%.*$/, ''), 'ipv6') : blocked4.check(inner, 'ipv4');
  };
}

/** The IPv4 address that an IPv6 address stands for, or null. */
function innerAddress(address: string): string | null {
  const plain = dotted.exec(address)?.[1];
  if (plain !== undefined) return plain;
  const [, high, low] = mapped.map((pattern) => pattern.exec(address)).find((match) => match !== null) ?? [];
  if (high === undefined || low === undefined) return null;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}
