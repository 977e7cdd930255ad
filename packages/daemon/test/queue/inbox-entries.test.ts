import type { InboxEntry } from '@pawl/protocol/questions/view';
import { waitUntil } from '@pawl/testing/wait-until';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { checkScript, commitFiles, configWith, propose, reaches } from '../support/merge-queue.ts';

let daemon: TestDaemon;
beforeEach(async () => {
  daemon = await startTestDaemon();
});
afterEach(() => daemon[Symbol.asyncDispose]());

const entries = async (): Promise<InboxEntry[]> => (await daemon.client.inbox()).entries;

async function configure(more = ''): Promise<void> {
  const config = configWith('./check.sh', more);
  await commitFiles(daemon.repository, { '.pawl/config.yaml': config, 'a.txt': 'a\n' });
  writeFileSync(join(daemon.repository, 'check.sh'), checkScript(), { mode: 0o755 });
  await commitFiles(daemon.repository, { 'check.sh': checkScript() });
}

/** Waits until exactly these kinds are listed. */
async function waits(...kinds: InboxEntry['kind'][]): Promise<InboxEntry[]> {
  return waitUntil(
    async () => {
      const found = await entries();
      if (found.map(({ kind }) => kind).join() === kinds.join()) return found;
      throw new Error(`these wait: ${JSON.stringify(found)}`);
    },
    { what: `${kinds.join()} in the inbox` },
  );
}

test('a green change blocked by a dirty checkout waits for a person, and is merged when it is clean', async () => {
  await configure();
  writeFileSync(join(daemon.repository, 'a.txt'), 'not committed\n');
  const change = await propose(daemon.client, daemon.repository, 'topic', { 'b.txt': 'b\n' });
  const [held] = await waits('held-up');
  expect(held).toMatchObject({
    changes: [change.id],
    project: { alias: 'sample' },
    text: 'work on topic',
    detail: expect.stringContaining('uncommitted changes') as string,
    next: ['Commit or stash them first.', 'pawl queue'],
  });
  expect(held?.since).toBeGreaterThan(0);
  writeFileSync(join(daemon.repository, 'a.txt'), 'a\n');
  await reaches(daemon.client, change.id, 'merged');
  await waits();
});

test('a conflict of a person’s change, a paused queue and a broken configuration are listed, each with its command', async () => {
  await configure();
  const change = await propose(daemon.client, daemon.repository, 'topic', { 'a.txt': 'theirs\n' }, 'main~1');
  await commitFiles(daemon.repository, { 'a.txt': 'ours\n' });
  await reaches(daemon.client, change.id, 'ejected');
  expect(await waits('conflict')).toMatchObject([
    { id: change.id, agent: null, next: [`pawl change fix ${change.id.slice(0, 8)}`, expect.any(String) as string] },
  ]);
  await daemon.client.closeChange(change.id, { reason: 'no' });
  await waits();
  await daemon.client.pauseQueue({ path: daemon.repository });
  await propose(daemon.client, daemon.repository, 'other', { 'other.txt': 'x\n' });
  expect(await waits('queue-paused')).toMatchObject([{ next: ['pawl queue resume'] }]);
  await commitFiles(daemon.repository, { '.pawl/config.yaml': 'checks: {' });
  await daemon.client.resumeQueue({ path: daemon.repository });
  await waits('configuration');
});

test('a red main, missing checks and an exceeded budget wait for a person', async () => {
  const change = await propose(daemon.client, daemon.repository, 'topic', { 'b.txt': 'b\n' });
  expect(await waits('no-checks')).toMatchObject([{ changes: [change.id], next: ['pawl init'] }]);
  await daemon.client.closeChange(change.id, { reason: 'no' });
  await configure('fixer: false\n');
  await commitFiles(daemon.repository, { bad: 'x\n' });
  await daemon.client.checkQueue({ path: daemon.repository });
  expect(await waits('emergency')).toMatchObject([{ text: expect.stringContaining('main is red') as string }]);
  const usage = { usage: { input: 900, output: 200, cost: 0 } };
  const agent = await daemon.work([usage, 'complete'], { budget: { tokens: 1_000 } });
  await daemon.ended(agent.id);
  expect(await waits('emergency', 'over-budget')).toMatchObject([
    {},
    { agent: { id: agent.id }, next: [expect.stringContaining(`pawl resume ${agent.alias} --budget`) as string, {}] },
  ]);
});
