import { waitUntil } from '@pawl/testing/wait-until';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { commitFiles, configWith, propose, queueNow, reaches } from '../support/merge-queue.ts';

test('a failed queue pass is retried soon, without waiting for the slow poll', async () => {
  await using daemon = await startTestDaemon({ timing: { queueMs: 600_000 } });
  const { client, repository } = daemon;
  const gate = join(repository, '..', 'gate');
  const run = `echo looking; until [ -e '${gate}' ]; do sleep 0.02; done`;
  await commitFiles(repository, { '.pawl/config.yaml': configWith(run) });
  const change = await propose(client, repository, 'work/one', { 'one.txt': '1\n' });
  await waitUntil(async () => (await queueNow(client)).running.length === 2, { what: 'its check and main’s to run' });
  const { repositories } = daemon.home;
  renameSync(repositories, `${repositories}.away`);
  writeFileSync(repositories, 'in the way');
  writeFileSync(gate, '');
  await waitUntil(async () => (await queueNow(client)).waiting, { what: 'the failure to be on record' });
  rmSync(repositories);
  renameSync(`${repositories}.away`, repositories);
  await reaches(client, change.id, 'merged');
});
