import { createSelection } from '@pawl/daemon/agents/selection';
import type { AgentView } from '@pawl/protocol/agents/view';
import type { Agent } from '@pawl/schema/record';
import * as fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { startTestDaemon } from '../support/daemon.ts';
import { openMailHome } from '../support/mail-home.ts';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { join } from 'node:path';

test('a home has one current agent, at first agent 0, which exists from the first start [S1-08, S1-10, S1-11]', async () => {
  await using daemon = await startTestDaemon();
  const selection = await daemon.client.selection();
  expect(selection).toMatchObject({
    current: { alias: 'root', parentId: null, status: 'running', kind: 'main' },
    parent: null,
    previous: null,
    next: null,
    child: null,
    draft: { input: '', scroll: 0 },
  });
  expect((await daemon.client.listAgents()).current).toBe(selection.current.id);
  // W1-18: a fresh install starts with a clear.
  expect((await daemon.client.events({ limit: 1 })).events[0]?.type).toBe('agent.forked');
});

test('switching keeps the draft for each agent, reaches neighbours, and survives a restart [S1-09, S1-12, W1-24]', async () => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  const first = await startTestDaemon({ home });
  const [one, two, three] = [
    await first.work(['complete'], { alias: 'one' }),
    await first.work(['complete'], { alias: 'two' }),
    await first.work(['complete'], { alias: 'three' }),
  ];
  for (const { id } of [one, two, three]) await first.ended(id);
  const { client } = first;
  await client.switchAgent({ to: 'one', draft: { input: 'to root', scroll: 3 } });
  const selection = await client.switchAgent({ to: 'two', draft: { input: 'half a sentence to one', scroll: 42 } });
  expect(selection).toMatchObject({
    current: { alias: 'two' },
    parent: { alias: 'root' },
    previous: { alias: 'one' },
    next: { alias: 'three' },
    child: null,
    draft: { input: '', scroll: 0 },
  });
  expect((await client.switchAgent({ to: 'previous' })).draft).toEqual({ input: 'half a sentence to one', scroll: 42 });
  expect((await client.switchAgent({ to: 'previous' })).current.alias).toBe('three');
  expect((await client.switchAgent({ to: 'next' })).current.alias).toBe('one');
  expect((await client.switchAgent({ to: 'parent' })).draft).toEqual({ input: 'to root', scroll: 3 });
  expect((await client.switchAgent({ to: 'child' })).current.alias).toBe('one');
  await expect(client.switchAgent({ to: 'child' })).rejects.toMatchObject({ code: 'not_found' });
  // W1-02: after a fork, parent and child know each other.
  const { agent: below } = await client.fork('one', { switch: false }, randomUUID());
  expect((await client.switchAgent({ to: 'child' })).current.id).toBe(below.id);
  expect((await client.selection()).parent?.id).toBe(one.id);
  await client.switchAgent({ to: 'one', draft: { input: 'unsent', scroll: 0 } });
  await first.stop();
  // 3.2.10: also after a restart.
  const second = await startTestDaemon({ home });
  expect((await second.client.selection()).current.alias).toBe('one');
  expect((await second.client.switchAgent({ to: below.id })).draft.input).toBe('unsent');
  await second.client.killAgent(one.id, { cascade: true });
  expect((await second.client.selection()).current.alias).toBe('root');
  await expect(second.client.switchAgent({ to: one.id })).rejects.toMatchObject({ code: 'conflict' });
  await second.stop();
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
});

test('each agent keeps its own draft and scroll position across switches from any terminal, and nothing else changes [S1-08, S1-09, S1-10, S1-12]', async () => {
  await using place = await openMailHome();
  const { platform, root, fox, owl, elk } = place;
  const family = [fox, owl, elk];
  const find = async (name: string) => [root, ...family].find(({ alias }) => alias === name) ?? root;
  const view = async (id: string) => ({ id }) as AgentView;
  const terminals = [createSelection(platform, { find, view }), createSelection(platform, { find, view })];
  const rows = () => platform.store.db.selectFrom('agents').selectAll().execute();
  const before = await rows();
  const step = fc.record({
    terminal: fc.nat(1),
    to: fc.constantFrom('parent', 'child', 'next', 'previous', 'root', ...family.map(({ alias }) => alias)),
    draft: fc.option(fc.record({ input: fc.string(), scroll: fc.nat() }), { nil: undefined }),
  });
  /** The target of a word: the three are siblings, in a ring. */
  const leads = (from: Agent, to: string): Agent | undefined => {
    const at = family.indexOf(from);
    const ring = (by: number) => (at === -1 ? undefined : family[(at + by + family.length) % family.length]);
    if (to === 'parent') return at === -1 ? undefined : root;
    if (to === 'child') return at === -1 ? fox : undefined;
    if (to === 'next' || to === 'previous') return ring(to === 'next' ? 1 : -1);
    return [root, ...family].find(({ alias }) => alias === to);
  };
  let current = root;
  const drafts = new Map<Agent, { input: string; scroll: number }>();
  for (const { terminal, to, draft } of fc.sample(step, { numRuns: 60, seed: 14 })) {
    const next = leads(current, to);
    const switched = terminals[terminal]?.switchTo({ to, draft });
    if (next === undefined) await expect(switched).rejects.toMatchObject({ code: 'not_found' });
    else {
      if (draft !== undefined) drafts.set(current, draft);
      current = next;
      await switched;
    }
    for (const selection of terminals)
      expect(await selection.look()).toMatchObject({
        current: { id: current.id },
        draft: drafts.get(current) ?? { input: '', scroll: 0 },
      });
  }
  expect(await rows()).toEqual(before);
});
