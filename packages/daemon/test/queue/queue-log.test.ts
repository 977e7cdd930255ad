import { waitUntil } from '@pawl/testing/wait-until';
import { expect, test } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { commitFiles, configWith, propose, queueNow, reaches } from '../support/merge-queue.ts';

test('the output of main’s check can be read without a change, and any other check by an id prefix', async () => {
  await using daemon = await startTestDaemon();
  const { client, repository } = daemon;
  const here = { path: repository };
  const run = 'echo "there are $(ls | wc -l) files"; test ! -e bad';
  const main = await commitFiles(repository, { '.pawl/config.yaml': configWith(run) });
  await expect(client.queueLog(here)).rejects.toMatchObject({ code: 'not_found' });
  await client.checkQueue(here);
  await waitUntil(async () => (await queueNow(client)).green === main, { what: 'main to be green' });
  const log = await client.queueLog(here);
  expect(log).toMatchObject({ check: { commit: main, changes: [], outcome: 'passed' }, leftOutBytes: 0 });
  expect(log.output).toEqual([{ step: 'check', text: expect.stringMatching(/^there are +\d+ files\n$/) }]);
  const change = await propose(client, repository, 'work/bad', { bad: 'x\n' });
  const { ejection } = await reaches(client, change.id, 'ejected');
  const failed = await client.queueLog({ ...here, check: ejection?.checkId?.slice(0, 8) ?? '' });
  expect(failed.check).toMatchObject({ id: ejection?.checkId, outcome: 'failed', changes: [change.id] });
  // Main was checked again before a change was blamed.
  expect((await client.queueLog(here)).check).toMatchObject({ commit: main, changes: [], outcome: 'passed' });
  await expect(client.queueLog({ ...here, check: 'nothing' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(client.queueLog()).rejects.toMatchObject({ code: 'invalid_input' });
});
