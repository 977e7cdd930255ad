import type { AgentView } from '@pawl/protocol/agents/view';
import { homeAt } from '@pawl/protocol/node/home';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import { readyDaemon } from '../support/daemon-process.ts';

test('a lock outlives a kill -9 of the daemon, with the same end [W2-06]', async () => {
  await using place = await temporaryDirectory();
  const [home, repository, scenario] = ['home', 'sample', 'hang.json'].map((name) => join(place.path, name)) as [
    string,
    string,
    string,
  ];
  await sampleRepository(repository);
  await writeFile(scenario, JSON.stringify({ steps: ['hang'] }));
  let daemon = await readyDaemon(home);
  try {
    await daemon.client.addProject({ path: repository });
    const body = { path: repository, task: 'wait', provider: 'scripted', options: { scenario } };
    const agents: AgentView[] = [];
    for (let count = 0; count < 2; count++) agents.push((await daemon.client.work(body, randomUUID())).agent);
    const clients = () => agents.map(({ id }) => agentClient(homeAt(home), id));
    const { lock } = (await clients()[0]?.lockPaths('@current', { globs: ['src/**'], seconds: 3_600 })) ?? {};
    await daemon.kill();
    daemon = await readyDaemon(home);
    const [owner, other] = clients();
    const write = { tool: 'Write', input: 'src/a.ts' };
    expect(await other?.gate('@current', write)).toMatchObject({ allowed: false });
    expect(await owner?.gate('@current', write)).toMatchObject({ allowed: true });
    expect((await owner?.listLocks('@current'))?.locks).toEqual([lock]);
    expect(await owner?.unlockPaths('@current', lock?.id ?? '')).toEqual({ released: true });
    expect(await other?.gate('@current', write)).toMatchObject({ allowed: true });
    for (const { id } of agents) await daemon.client.stopAgent(id);
  } finally {
    await daemon.kill('SIGTERM');
  }
});
