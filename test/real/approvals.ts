import type { InboxItem } from '@pawl/protocol/questions/view';
import type { ProviderPreset } from '@pawl/core/port/provider';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { RealWorkshop } from './workshop.ts';

const definition = `---
name: asker
description: asks before it acts
kind: main
tools: ["*"]
policy: [Patch]
access: ask
---
You ask before you act.
`;

/** Whether a provider asks a person, itself or through another one. */
export function canAsk({ access }: ProviderPreset): boolean {
  return access.ask !== null || access.askWith !== undefined;
}

/**
 * Runs a task whose tools need approval: the first is denied with a reason, the others are allowed. The daemon is killed
 * before each of the first two answers.
 */
export async function askAndAnswer(shop: RealWorkshop): Promise<void> {
  const { cli, client, repository } = shop;
  const place = join(repository, '.pawl', 'agents');
  await mkdir(place, { recursive: true });
  await writeFile(join(place, 'asker.md'), definition);
  const { environment, provider } = cli;
  const task = '[[session:asks]] Do what needs approval.';
  const body = { path: repository, task, definition: 'asker', provider, environment, account: `first-${provider}` };
  const model = cli.model === null ? {} : { model: cli.model };
  const { agent } = await client().work({ ...body, ...model }, randomUUID());

  const denied = await requestOf(shop, agent.id, 'touch denied.txt');
  const shown = await shop.pawl(['inbox']);
  expect(shown).toContain('touch denied.txt');
  expect(shown).toContain(`in ${agent.worktree ?? ''}`);
  await shop.crashDaemon();
  await shop.pawl(['reply', denied.id, '--deny', 'use npm test [[mark:use-npm-test]]']);

  const allowed = await requestOf(shop, agent.id, 'touch allowed.txt');
  await shop.crashDaemon();
  await shop.pawl(['reply', allowed.id, '--allow']);
  // Its report needs approval, too.
  await allowAll(shop, agent.id);

  const { agent: ended, sessions } = await client().inspectAgent(agent.id);
  expect(ended).toMatchObject({ access: 'ask', run: { status: 'completed' } });
  // The same turn: no other session was needed.
  expect(sessions).toHaveLength(1);
  const exists = (name: string) => existsSync(join(ended.worktree ?? '', name));
  expect([exists('denied.txt'), exists('allowed.txt')]).toEqual([false, true]);
  // The reason reached the model.
  expect(shop.server.requests.flatMap(({ marks }) => marks)).toContain('use-npm-test');
  const decisions = (await shop.events(agent.id)).filter(({ type }) => type === 'approval.answered');
  expect(decisions.map(({ data }) => data['decision']).slice(0, 2)).toEqual(['deny', 'allow']);
}

async function openOf({ client }: RealWorkshop, agentId: string): Promise<InboxItem[]> {
  const { items } = await client()
    .inbox()
    .catch(() => ({ items: [] }));
  return items.filter((item) => item.agent.id === agentId && item.kind === 'permission');
}

/** The request of an agent with this text, once it is in the inbox. Others before it are allowed. */
async function requestOf(shop: RealWorkshop, agentId: string, text: string): Promise<InboxItem> {
  return waitUntil(
    async () => {
      const { agent } = await shop.client().inspectAgent(agentId);
      if (agent.run?.status !== 'running') throw new Error(`it ended: ${agent.run?.status} ${agent.run?.detail}`);
      return (await openOf(shop, agentId)).find(({ questions }) => questions[0]?.question.includes(text));
    },
    { timeoutMs: 180_000, what: `the request ${text}` },
  );
}

async function allowAll(shop: RealWorkshop, agentId: string): Promise<void> {
  await waitUntil(
    async () => {
      for (const { id } of await openOf(shop, agentId)) await shop.pawl(['reply', id, '--allow']).catch(() => '');
      return (await shop.client().inspectAgent(agentId)).agent.run?.status !== 'running';
    },
    { timeoutMs: 240_000, what: 'the run to end' },
  );
}
