import type { AgentView } from '@pawl/protocol/agents/view';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workplace } from './support/pawl.ts';

const bin = join(import.meta.dirname, '..', 'dist', 'pawl.mjs');

test('a command that a frozen daemon did not answer creates one agent, even if a person types it again', async () => {
  await using place = await workplace();
  const repository = join(place.path, 'sample');
  await sampleRepository(repository);
  await place.json(['init'], { cwd: repository });
  const { pid } = await place.json<{ pid: number }>(['status']);
  const words = ['work', 'a note', '--provider', 'scripted'];
  const requests = join(place.home, 'requests');
  process.kill(pid, 'SIGSTOP');
  try {
    const env = { ...process.env, PAWL_HOME: place.home };
    const given = spawn(bin, words, { cwd: repository, env, stdio: 'ignore' });
    await waitUntil(() => existsSync(requests) && readdirSync(requests).length === 1, { what: 'the request' });
    // The person gives up.
    given.kill('SIGINT');
    await once(given, 'exit');
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  const again = await place.pawl(words, { cwd: repository });
  expect(again.stderr).toContain('the same command from before, whose answer was lost');
  expect(again.stdout).toContain('the same command started it before');
  expect(again.code).toBe(0);
  const agents = async () =>
    (await place.json<{ agents: AgentView[] }>(['ps', '--all'])).agents.filter(({ parentId }) => parentId !== null);
  const [agent, ...others] = await agents();
  expect(others).toEqual([]);
  expect(again.stdout).toContain(`${agent?.alias} is at work`);
  expect(readdirSync(requests)).toEqual([]);
  // After a response the same command creates another agent.
  for (const _ of [1, 2])
    expect(await place.json<Record<string, unknown>>(words, { cwd: repository })).not.toHaveProperty('repeats');
  expect(await agents()).toHaveLength(3);
});
