import { waitUntil } from '@pawl/testing/wait-until';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { storeOf } from '../support/stores.ts';
import { commitFiles, configWith } from '../support/merge-queue.ts';
import { agentById } from '@pawl/store/agents/agents';

/** A directory with programs that do nothing. */
async function programs(...names: string[]) {
  const place = await temporaryDirectory();
  for (const name of names) writeFileSync(join(place.path, name), '#!/bin/sh\nsleep 60\n', { mode: 0o755 });
  return place;
}

test('the order: request, definition, project, home, and then the only installed one', async () => {
  await using daemon = await startTestDaemon({ choices: { provider: null } });
  await using bin = await programs('claude', 'codex', 'gemini', 'qwen');
  await using one = await programs('gemini');
  const { client, repository } = daemon;
  daemon.define('reader', { name: 'reader', description: 'Reads.', provider: 'qwen', tools: ['Read'] });
  await client.trust({ path: repository });
  const provider = async (body: object, path = bin.path) => {
    const request = { path: repository, task: 'x', searchPath: path, ...body };
    const { agent } = await client.work(request, randomUUID());
    await client.killAgent(agent.id, {});
    return agent.provider;
  };
  await expect(provider({})).rejects.toMatchObject({
    code: 'no_provider',
    details: { installed: ['claude', 'codex', 'gemini', 'qwen'] },
  });
  expect(await provider({}, one.path)).toBe('gemini');
  await client.changeProjectSettings({ path: repository, provider: 'codex' });
  expect(await provider({})).toBe('codex');
  expect(await provider({ provider: 'claude' })).toBe('claude');
  expect(await provider({ provider: 'scripted' })).toBe('scripted');
  // A chosen but missing provider is an error, and no other is used instead.
  await expect(provider({}, one.path)).rejects.toMatchObject({ code: 'unknown_provider' });
});

test('an agent’s children have its provider and its PATH', async () => {
  await using daemon = await startTestDaemon({ choices: { provider: null } });
  await using bin = await programs('claude', 'codex');
  const parent = await daemon.work(['hang'], { searchPath: `${bin.path}:relative/bin:/usr/bin:/bin` });
  const { agent: child } = await agentClient(daemon.home, parent.id).fork(
    '@current',
    { prompt: 'go', searchPath: '/elsewhere' },
    randomUUID(),
  );
  const stored = await agentById(storeOf(daemon.home.root).db, child.id);
  expect(child.provider).toBe('scripted');
  // A relative directory would be searched in the worktree, which a repository fills.
  expect(stored?.environment['PATH']).toBe(`${bin.path}:/usr/bin:/bin`);
});

test('outside a playground a scripted change is a draft for its author, a person who opens it, and when it moves', async () => {
  await using daemon = await startTestDaemon({ choices: { provider: null } });
  const { client, repository } = daemon;
  const config = configWith('echo passed', 'fixer: false\nqueue: {enabled: false, auto: true}\n');
  await commitFiles(repository, { '.pawl/config.yaml': config.replace('playground: true\n', '') });
  const steps = [{ write: { path: 'a.txt', content: 'a' } }, { commit: 'feat: a' }, 'hang'];
  const agent = await daemon.work(steps, { provider: 'scripted' });
  const asAgent = agentClient(daemon.home, agent.id);
  const open = async () => (await asAgent.openChange({})).change;
  const { id, queuedAt } = await waitUntil(open, { what: 'a change to propose' });
  expect(queuedAt).toBeNull();
  await expect(asAgent.mergeChange(id, {})).rejects.toMatchObject({ code: 'forbidden' });
  const branch = agent.branch ?? '';
  expect((await client.openChange({ path: repository, branch })).change.queuedAt).toBeNull();
  expect((await client.mergeChange(id, {})).change.queuedAt).not.toBeNull();
  // Proposing the same commit again keeps the person's request; another commit needs a new one.
  expect((await open()).queuedAt).not.toBeNull();
  await commitFiles(agent.worktree ?? '', { 'b.txt': 'b' });
  expect((await open()).queuedAt).toBeNull();
});

test('in a playground a scripted change is queued like any other', async () => {
  await using daemon = await startTestDaemon({ choices: { provider: null } });
  const { repository } = daemon;
  const config = configWith('echo passed', 'fixer: false\nqueue: {enabled: false, auto: true}\n');
  await commitFiles(repository, { '.pawl/config.yaml': config });
  const steps = [{ write: { path: 'a.txt', content: 'a' } }, { commit: 'feat: a' }, 'complete'];
  const agent = await daemon.ended((await daemon.work(steps, { provider: 'scripted' })).id);
  const { change } = await agentClient(daemon.home, agent.id).openChange({});
  expect(change.queuedAt).not.toBeNull();
});
