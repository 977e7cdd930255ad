import { parseRemote, slugOf } from '@pawl/forge/github/repository-name';
import { expect, test } from 'vitest';

test.each([
  ['https://github.com/octo/sample.git', 'github.com/octo/sample'],
  ['https://github.com/octo/sample', 'github.com/octo/sample'],
  ['https://github.com/octo/sample/', 'github.com/octo/sample'],
  ['https://user:token@github.com/octo/sample.git', 'github.com/octo/sample'],
  ['git@github.com:octo/sample.git', 'github.com/octo/sample'],
  ['github.com:octo/sample', 'github.com/octo/sample'],
  ['ssh://git@github.com/octo/sample.git', 'github.com/octo/sample'],
  ['ssh://git@ssh.github.com:443/octo/sample.git', 'github.com/octo/sample'],
  ['git@GitHub.com:Octo-Cat/dotted.name.git', 'github.com/Octo-Cat/dotted.name'],
  ['https://tenant.ghe.com/octo/sample', 'tenant.ghe.com/octo/sample'],
])('%s is %s', (url, slug) => {
  const repository = parseRemote(url);
  expect(repository === null ? null : slugOf(repository)).toBe(slug);
});

test.each([
  '/srv/git/sample.git',
  '../sample',
  'file:///srv/git/sample.git',
  'ext::sh -c x',
  'https://gitlab.com/octo/sample.git',
  'https://github.com.evil.example/octo/sample.git',
  'https://evil.example/github.com/octo/sample.git',
  'https://github.com@evil.example/octo/sample.git',
  'https://github.com/octo',
  'https://github.com/octo/sample/pull/1',
  'https://github.com/../sample',
  'https://github.com/octo/..',
  'https://github.com/-octo/sample',
  'https://github.com/octo/sample?x=1',
  'https://github.com/octo/sam ple',
  'https://github.com/octo/sam%2e%2e',
  'git@-oProxyCommand=x:octo/sample',
  '',
])('%s is not on GitHub', (url) => {
  expect(parseRemote(url)).toBeNull();
});

test('an enterprise server counts if the person has named it', () => {
  const url = 'git@git.example.org:octo/sample.git';
  expect(parseRemote(url)).toBeNull();
  expect(parseRemote(url, 'git.example.org')).toEqual({ host: 'git.example.org', owner: 'octo', name: 'sample' });
  expect(parseRemote(url, 'example.org')).toBeNull();
});
