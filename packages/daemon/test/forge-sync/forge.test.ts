import { createCaches } from '@pawl/daemon/platform/caches';
import { forgeFor } from '@pawl/daemon/forge-sync/forge';
import type { SessionPlatform } from '@pawl/daemon/accounts/session-platform';
import { openRepository } from '@pawl/git/repository/repository';
import { homeAt } from '@pawl/protocol/node/home';
import type { ProjectConfig } from '@pawl/schema/project-config';
import { createFakeGithub } from '@pawl/testing/fake-gh/fake-github';
import type { FakeState } from '@pawl/testing/fake-gh/state';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const upstream = 'https://github.com/octo/sample.git';

/** A repository with these remotes, beside a fake GitHub server, with `gh` in PATH. */
async function openPlace(remotes: Record<string, string>, given: Partial<FakeState> = {}) {
  const place = await temporaryDirectory();
  const server = await createFakeGithub(place.path, given);
  const root = join(place.path, 'sample');
  await sampleRepository(root);
  for (const [name, url] of Object.entries(remotes)) await git(root, ['remote', 'add', name, url]);
  const home = homeAt(join(place.path, 'home'));
  mkdirSync(home.root, { recursive: true });
  const environment = { ...process.env, PATH: `${server.bin}:${process.env['PATH']}` };
  const platform = { home, environment, clock: () => 1_000, caches: createCaches() } as unknown as SessionPlatform;
  const project = { id: 'p', name: 'sample', root, createdAt: 1 };
  const repository = await openRepository(root);
  return {
    server,
    forgeOf: (config: Partial<ProjectConfig> = {}) =>
      forgeFor(platform, project, repository, { forge: 'github', remote: 'origin', track: 'all', ...config }),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

test('a project without a forge needs no gh; one with a forge needs a remote there', async () => {
  await using place = await openPlace({ origin: '/srv/git/sample.git' });
  expect(await place.forgeOf({ forge: 'local' })).toBeNull();
  await expect(place.forgeOf()).rejects.toMatchObject({ code: 'invalid_input', message: /is not on GitHub/ });
  await expect(place.forgeOf({ remote: 'other' })).rejects.toMatchObject({ message: /There is no remote other/ });
  await expect(place.forgeOf({ remote: null })).rejects.toMatchObject({ code: 'invalid_input' });
});

test('with write access, branches go to the repository itself; gh is asked once', async () => {
  await using place = await openPlace({ origin: upstream });
  const link = await place.forgeOf();
  expect(link).toMatchObject({ url: upstream, push: { url: upstream, fork: null }, mayMerge: true });
  expect(await place.forgeOf()).toBe(link);
  expect(place.server.on(({ log }) => log)).toEqual([
    ['repo', 'view', 'github.com/octo/sample', '--json=viewerPermission'],
  ]);
});

test('without it they go to a fork, if origin is one, and nothing is merged [W4-19]', async () => {
  const fork = 'git@github.com:octo-cat/sample.git';
  await using place = await openPlace({ upstream, origin: fork }, { permission: 'READ' });
  expect(await place.forgeOf({ remote: 'upstream' })).toMatchObject({
    url: upstream,
    push: { url: fork, fork: 'octo-cat' },
    mayMerge: false,
  });
  await using bare = await openPlace({ origin: upstream }, { permission: 'TRIAGE' });
  expect(await bare.forgeOf()).toMatchObject({ push: null, mayMerge: false });
});
