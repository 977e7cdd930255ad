import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const start = (text: string, more = {}) => daemon.client.newPlan({ path: daemon.repository, text, ...more });

describe('a plan', () => {
  test('begins as a draft with the wish as its first page, named by its first line', async () => {
    const { plan, pages, tasks } = await start('# Cancel orders\n\nCustomers want that.');
    expect(plan).toMatchObject({ name: 'Cancel orders', state: 'draft', mode: 'review', project: { name: 'sample' } });
    expect(plan.detail).toContain('no tasks are planned');
    expect(pages).toMatchObject([{ title: 'Cancel orders', text: '# Cancel orders\n\nCustomers want that.' }]);
    expect(tasks).toEqual([]);
    const { events } = await daemon.client.events({ limit: 1000 });
    expect(events.filter(({ data }) => data['planId'] === plan.id).map(({ type }) => type)).toEqual(['plan.started']);
  });

  test.each(['', '   \n---\n'])('needs words: %j', async (text) => {
    await expect(start(text)).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('is found by name, id or the start of it, and listed by project', async () => {
    const name = `plan ${randomUUID()}`;
    const { plan } = await start('x', { name });
    for (const word of [name, plan.id, plan.id.slice(0, 8)])
      expect((await daemon.client.showPlan(word)).plan.id).toBe(plan.id);
    const { plans } = await daemon.client.listPlans({ path: daemon.repository });
    expect(plans.map(({ id }) => id)).toContain(plan.id);
    await expect(daemon.client.showPlan('nothing')).rejects.toMatchObject({ code: 'not_found' });
    await start('y', { name });
    await expect(daemon.client.showPlan(name)).rejects.toMatchObject({ code: 'ambiguous' });
  });

  test('has a tree of pages, none below itself, and its hash follows their text', async () => {
    const { plan, pages } = await start('a wish', { name: `plan ${randomUUID()}` });
    const wish = pages[0]?.id ?? '';
    const more = await daemon.client.editPlan(plan.id, { page: { title: 'Limits', parent: wish, text: 'ten' } });
    const limits = more.pages.find(({ title }) => title === 'Limits');
    expect(limits).toMatchObject({ parentId: wish, text: 'ten' });
    expect(more.plan.hash).not.toBe(plan.hash);
    const moved = daemon.client.editPlan(plan.id, { page: { id: wish, parent: 'Limits' } });
    await expect(moved).rejects.toMatchObject({ code: 'invalid_input' });
    const other = daemon.client.editPlan(plan.id, { page: { id: 'nowhere', text: '' } });
    await expect(other).rejects.toMatchObject({ code: 'not_found' });
    const renamed = await daemon.client.editPlan(plan.id, { name: 'another', mode: 'auto', budget: { usd: 3 } });
    expect(renamed.plan).toMatchObject({ name: 'another', mode: 'auto', budget: { usd: 3, tokens: null } });
    expect(renamed.plan.hash).toBe(more.plan.hash);
  });

  test('is seen by the agents of its project, and edited by people only', async () => {
    const { plan } = await start('a wish', { name: `plan ${randomUUID()}` });
    const agent = await daemon.rested();
    const own = agentClient(daemon.home, agent.id);
    expect((await own.showPlan(plan.id)).plan.id).toBe(plan.id);
    await expect(own.editPlan(plan.id, { name: 'x' })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(own.newPlan({ path: daemon.repository, text: 'x' })).rejects.toMatchObject({ code: 'forbidden' });
  });
});
