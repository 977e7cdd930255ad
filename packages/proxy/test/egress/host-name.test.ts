import { expect, test } from 'vitest';
import { readAllowList } from '../../src/egress/allow-list.ts';
import { parseTarget } from '../../src/egress/host-name.ts';
import { createPrivateAddresses } from '../../src/egress/private-address.ts';

test.each([
  ['Example.COM:443', 'example.com', 443],
  ['example.com.:443', 'example.com', 443],
  ['bücher.example:443', 'xn--bcher-kva.example', 443],
  ['0x7f.1:80', '127.0.0.1', 80],
  ['2130706433:80', '127.0.0.1', 80],
  ['0177.0.0.1:80', '127.0.0.1', 80],
  ['１２７.0.0.1:80', '127.0.0.1', 80],
  ['[::ffff:127.0.0.1]:443', '::ffff:7f00:1', 443],
  ['[0:0:0:0:0:0:0:1]:443', '::1', 443],
])('reads %s in its normal form', (text, host, port) => {
  expect(parseTarget(text)).toEqual({ host, port });
});

test.each([
  '',
  'example.com',
  'example.com:0',
  'example.com:65536',
  'a@b:443',
  'a/b:443',
  'a b:443',
  'a\\b:443',
  'exa%6dple.com:443',
  '[::1%eth0]:443',
  '*.example.com:443',
  '..:443',
  'a..b:443',
  'example.com:443:80',
])('refuses %j', (text) => expect(parseTarget(text)).toBeNull());

test('an entry allows its host on the usual ports, or on its own one', () => {
  const list = readAllowList([
    'Example.com.',
    '*.packages.test',
    'git.example:8443',
    '10.0.0.7',
    'no host',
    '*.com:x',
    '*.org',
  ]);
  const allows = (text: string) => list.allows(parseTarget(text) ?? { host: '', port: 0 });
  expect(
    ['example.com:443', 'EXAMPLE.com.:80', 'registry.packages.test:443', 'git.example:8443', '10.0.0.7:80'].every(
      allows,
    ),
  ).toBe(true);
  const refused = [
    'example.com:22',
    'evil-example.com:443',
    'example.com.evil:443',
    'packages.test:443',
    'xpackages.test:443',
    'git.example:443',
    '10.0.0.8:80',
    'any.org:443',
  ];
  expect(refused.filter(allows)).toEqual([]);
  expect(list.namesAddress('10.0.0.7', 443)).toBe(true);
  expect(list.namesAddress('10.0.0.7', 22)).toBe(false);
});

test('a denied host wins over every entry, on all ports', () => {
  const list = readAllowList(['*', 'example.com:8443'], ['*.evil.example', 'example.com']);
  const allows = (text: string) => list.allows(parseTarget(text) ?? { host: '', port: 0 });
  expect(['any.example:443', 'evil.example:443'].every(allows)).toBe(true);
  expect(['a.evil.example:443', 'example.com:443', 'example.com:8443', 'any.example:22'].filter(allows)).toEqual([]);
});

test('knows private addresses in both families', () => {
  const isPrivate = createPrivateAddresses();
  const closed = [
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.100.100.200',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:0:1::',
  ];
  expect(closed.filter((address) => !isPrivate(address))).toEqual([]);
  const open = [
    '1.1.1.1',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700:4700::1111',
    '2a00:1450::1',
    '::ffff:1.1.1.1',
    '64:ff9b::101:101',
  ];
  expect(open.filter(isPrivate)).toEqual([]);
});
