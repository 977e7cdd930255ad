import { homeAt } from '@pawl/protocol/node/home';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import { viewOf, writeScenario } from '../support/daemon.ts';
import { markdown } from '../support/definitions.ts';
import { readyDaemon } from '../support/daemon-process.ts';
import { outputHas } from '../support/output.ts';

test.each(['before', 'after'] as const)(
  'a daemon killed %s it answered a delegation: the same key gives the same child and its result [S2-10, S2-11]',
  async (when) => {
    await using place = await temporaryDirectory();
    const [root, repository, gate] = ['home', 'sample', 'gate'].map((name) => join(place.path, name)) as [
      string,
      string,
      string,
    ];
    await sampleRepository(repository);
    mkdirSync(join(repository, '.pawl', 'agents'), { recursive: true });
    const define = (name: string, fields: Record<string, unknown>) =>
      writeFileSync(join(repository, '.pawl', 'agents', `${name}.md`), markdown({ tools: ['*'], ...fields }));
    define('chief', { kind: 'main', policy: ['Delegate'] });
    define('finder', { kind: 'subagent' });
    const home = homeAt(root);
    let daemon = await readyDaemon(root);
    await daemon.client.addProject({ path: repository });
    const lead = { path: repository, task: 'lead', provider: 'scripted', definition: 'chief' };
    const scenario = await writeScenario(place.path, [{ say: 'here' }, 'hang']);
    const { agent } = await daemon.client.work({ ...lead, options: { scenario } }, randomUUID());
    await outputHas(daemon.client, agent.id, 'here');
    if (when === 'before') {
      // The lead's own fork would have passed the crash point.
      await daemon.kill();
      daemon = await readyDaemon(root, { crashAt: 'spawn.after_fork' });
    }
    const steps = [
      { shell: `while [ ! -e '${gate}' ]; do sleep 0.1; done` },
      { signal: { status: 'done', result: 'found' } },
    ];
    const options = { scenario: await writeScenario(place.path, steps) };
    const body = { target: 'finder', task: 'find it', provider: 'scripted', options };
    const key = randomUUID();
    const asked = agentClient(home, agent.id).delegate(body, key);
    const known =
      when === 'before'
        ? await asked.then(
            () => 'answered',
            () => null,
          )
        : (await asked).run.id;
    if (when === 'before') expect(known).toBeNull();
    else await daemon.kill();
    await daemon.exited;

    const second = await readyDaemon(root);
    try {
      const client = agentClient(home, agent.id);
      const { run, agent: child } = await client.delegate(body, key);
      if (when === 'after') expect(run.id).toBe(known);
      writeFileSync(gate, '');
      const result = await waitUntil(
        async () => {
          const found = await client.runResult(run.id, { waitMs: 5_000 });
          return found.run.status === 'running' ? undefined : found;
        },
        { timeoutMs: 60_000, what: 'the result' },
      );
      expect(result).toMatchObject({ run: { status: 'completed' }, result: 'found' });
      expect(await client.delegate(body, key)).toMatchObject({ run: { id: run.id }, agent: { id: child.id } });
      const { agents } = await second.client.listAgents({ all: true });
      expect(agents.filter(({ definition }) => definition === 'finder')).toHaveLength(1);
      expect((await viewOf(second.client, agent.id)).run?.status).toBe('running');
    } finally {
      await second.client.stopAll();
      await second.kill('SIGTERM');
    }
  },
);
