import { git } from '@pawl/testing/sample-repository';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';

test('a bare repository has no checkout, so its configuration is named without a directory', async () => {
  await using daemon = await startTestDaemon();
  const bare = join(daemon.repository, '..', 'bare.git');
  await git(daemon.repository, ['clone', '-q', '--bare', daemon.repository, bare]);
  const { checks } = await daemon.client.addProject({ path: bare, checks: true });
  expect(checks).toMatchObject({ file: '.pawl/config.yaml', outcome: 'not-found' });
});
