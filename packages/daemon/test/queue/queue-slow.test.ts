import { limits } from '@pawl/schema/limit';
import { waitUntil } from '@pawl/testing/wait-until';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { changeNow, commitFiles, configWith, propose, queueNow, reaches } from '../support/merge-queue.ts';

test('a change that is checked alone and takes very long does not delay others', async () => {
  let aheadMs = 0;
  await using daemon = await startTestDaemon({ clock: () => Date.now() + aheadMs, timing: { queueMs: 200 } });
  const { client, repository } = daemon;
  const gate = join(repository, '..', 'gate');
  const run = `echo looking; [ ! -e slow.txt ] || until [ -e '${gate}' ]; do sleep 0.05; done`;
  const config = configWith(run, 'queue: { guard_paths: [slow.txt] }\n').replace('minutes: 1', 'minutes: 30');
  await commitFiles(repository, { '.pawl/config.yaml': config });
  const slow = await propose(client, repository, 'work/slow', { 'slow.txt': 'x\n' });
  await reaches(client, slow.id, 'needs-human-input');
  await client.approveChange(slow.id);
  await waitUntil(async () => (await queueNow(client)).running.length === 1, { what: 'its check to run' });
  const other = await propose(client, repository, 'work/other', { 'other.txt': 'x\n' });
  expect(other.state).toBe('queued');
  aheadMs = limits.aloneMs;
  await reaches(client, other.id, 'merged');
  expect((await changeNow(client, slow.id)).state).not.toBe('ejected');
  aheadMs = 0;
  writeFileSync(gate, '');
  await reaches(client, slow.id, 'merged');
});
