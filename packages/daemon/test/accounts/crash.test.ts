import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { key, openAccounts, testDirectory } from './fixture.ts';

test.each([
  ['directory', 0],
  ['rename', 0],
  ['row', 1],
] as const)('an addition killed after its %s is complete, or absent [8.1]', async (step, kept) => {
  const path = await testDirectory();
  const home = join(path, 'home');
  const child = spawnSync(process.execPath, [join(import.meta.dirname, 'crash-child.ts'), home, step, key]);
  expect(child.signal).toBe('SIGKILL');
  expect(readdirSync(join(home, 'accounts'))).toHaveLength(1);
  const fixture = await openAccounts({ path });
  const accounts = await fixture.accounts.list();
  expect(accounts).toHaveLength(kept);
  expect(readdirSync(fixture.home.accounts)).toHaveLength(kept);
  expect(await fixture.events()).toHaveLength(kept);
  // A repeated request ends in the same account.
  const { account, created } = await fixture.accounts.add({
    provider: 'fake',
    name: 'work',
    kind: 'api-key',
    secret: key,
  });
  expect(created).toBe(kept === 0);
  expect((await fixture.accounts.sessionUse(await fixture.row(account.id), fixture.preset, null)).secrets).toEqual([
    key,
  ]);
});
