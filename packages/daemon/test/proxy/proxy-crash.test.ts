import { homeAt } from '@pawl/protocol/node/home';
import type { CrashPoint } from '@pawl/schema/crash-point';
import { startModelServer } from '@pawl/testing/model-server/server';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runEnded, writeScenario } from '../support/daemon.ts';
import type { DaemonProcess } from '../support/daemon-process.ts';
import { readyDaemon } from '../support/daemon-process.ts';

const key = 'sk-proxied-0123456789-ABCDEFGH';
const caller = join(import.meta.dirname, '..', 'support', 'call-model.ts');

async function aHome(path: string, server: string) {
  const [home, repository] = [join(path, 'home'), join(path, 'sample')];
  await sampleRepository(repository);
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, 'config.yaml'), 'proxy: true\nsandbox: off\n');
  const options = {
    scenario: await writeScenario(path, [{ shell: `'${process.execPath}' '${caller}' 20 100` }, 'complete']),
  };
  return {
    home,
    async prepare({ client }: DaemonProcess) {
      await client.addProject({ path: repository });
      await client.addAccount({ provider: 'scripted', name: 'lab', kind: 'api-key', secret: key, baseUrl: server });
    },
    async begin({ client }: DaemonProcess, requestKey: string = randomUUID()) {
      const request = { path: repository, task: 'a task', provider: 'scripted', account: 'lab', options };
      return (await client.work(request, requestKey)).agent.id;
    },
    grants: () => readdirSync(join(homeAt(home).proxy, 'sessions')),
  };
}

test('a daemon killed in mid-turn breaks no call: the proxy and the session go on without it', async () => {
  await using place = await temporaryDirectory();
  await using model = await startModelServer({ validKeys: [key], fallback: 'text' });
  const { home, prepare, begin, grants } = await aHome(place.path, model.url);
  const first = await readyDaemon(home);
  await prepare(first);
  const agentId = await begin(first);
  await waitUntil(() => model.requests.length > 2, { what: 'some calls' });
  await first.kill();
  // All calls succeed while there is no daemon at all.
  await waitUntil(() => model.requests.length === 20, { what: 'all calls' });
  const second = await readyDaemon(home);
  try {
    const ended = await runEnded(second.client, agentId);
    expect(ended).toMatchObject({ run: { status: 'completed' }, session: { no: 1 } });
    // Each call is counted once, whoever has read the record up to where.
    expect(ended.usage.outputTokens % 20).toBe(0);
    expect(ended.usage.outputTokens).toBeGreaterThan(0);
    expect(grants()).toEqual([]);
  } finally {
    await second.kill('SIGTERM');
  }
});

const points: CrashPoint[] = ['spawn.after_grant'];

test.each(points)('killed at %s, the next daemon grants again, and nothing is left', async (point) => {
  await using place = await temporaryDirectory();
  await using model = await startModelServer({ validKeys: [key], fallback: 'text' });
  const { home, prepare, begin, grants } = await aHome(place.path, model.url);
  const first = await readyDaemon(home, { crashAt: point });
  await prepare(first);
  const requestKey = randomUUID();
  await begin(first, requestKey).catch(() => null);
  expect((await first.exited).signal).toBe('SIGKILL');
  expect(grants()).toHaveLength(1);
  // The grant of a session that never existed is worth nothing to anybody, and goes.
  await writeFile(join(homeAt(home).proxy, 'sessions', 'AAAAAAAAAAAAAAAAAAAAAA.json'), '{}');
  const second = await readyDaemon(home);
  try {
    const agentId = await begin(second, requestKey);
    expect((await runEnded(second.client, agentId)).run?.status).toBe('completed');
    expect(grants()).toEqual([]);
  } finally {
    await second.kill('SIGTERM');
  }
});
