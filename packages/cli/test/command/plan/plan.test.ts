import { idOf } from '@pawl/testing/agent-view';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { chmodSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { editPlan, graphPlan, listPlans, newPlan, showPlan } from '../../../src/command/plan/plan.ts';
import { work } from '../../../src/command/agents/work.ts';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

const plan = {
  id: idOf(1),
  name: 'cancel orders',
  state: 'draft',
  detail: 'no tasks are planned: pawl plan draft',
  mode: 'review',
  hash: 'h1',
  project: { id: idOf(2), name: 'shop' },
  spent: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0, turns: 0 },
  counts: { phases: 0, tasks: 0, settled: 0 },
};
const page = { id: idOf(3), initiativeId: idOf(1), parentId: null, title: 'Wish', text: 'old' };
const detail = {
  plan,
  pages: [page],
  decisions: [],
  phases: [],
  tasks: [],
  stage: { errors: ['These wait for each other: a → b → a.'], warnings: [], waves: [] },
};
const agent = { id: idOf(9), alias: 'brave-otter', branch: null, run: null };
const begun = { agent, whenDone: null, baseNote: null, confinement: { sandbox: 'on', access: 'full' } };
const answering = (json = false) =>
  fakeDaemon(
    ({ request, response }) => sendJson(response, request.url?.startsWith('/api/agents') === true ? begun : detail),
    { json },
  );

/** The bodies of requests that have one. */
const sent = (bodies: unknown[]) => bodies.filter((body) => body !== null);

afterEach(() => vi.unstubAllEnvs());

describe('plan new', () => {
  test('takes the wish from words or a file', async () => {
    await using daemon = await answering();
    await using directory = await temporaryDirectory();
    const file = join(directory.path, 'wish.md');
    writeFileSync(file, '# A wish');
    await newPlan(daemon.context, ['cancel', 'orders'], { mode: 'auto' });
    await newPlan(daemon.context, [], { file, name: 'mine' });
    expect(daemon.bodies).toEqual([
      { path: resolve('.'), text: 'cancel orders', mode: 'auto' },
      { path: resolve('.'), text: '# A wish', name: 'mine' },
    ]);
    expect(daemon.texts[0]).toBe(`started cancel orders (${plan.id.slice(0, 6)}, review)`);
    await expect(newPlan(daemon.context, [], { file: join(directory.path, 'none') })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });

  test('takes the wish from an issue with gh, as work does, and says if there is none', async () => {
    await using daemon = await answering();
    await using directory = await temporaryDirectory();
    vi.stubEnv('PATH', directory.path);
    await expect(newPlan(daemon.context, [], { issue: 7 })).rejects.toMatchObject({
      code: 'unavailable',
      message: 'gh is not installed.',
    });
    const gh = join(directory.path, 'gh');
    writeFileSync(gh, `#!/bin/sh\necho '{"title":"Cancel","body":"please","url":"https://example.org/7"}'\n`);
    chmodSync(gh, 0o755);
    await newPlan(daemon.context, [], { issue: 7 });
    expect(daemon.bodies).toEqual([
      { path: resolve('.'), name: 'Cancel', text: '# Cancel\n\nplease\n\nhttps://example.org/7\n' },
    ]);
    await work(daemon.context, ['only', 'the', 'API'], { issue: 7, provider: 'scripted' });
    expect(daemon.bodies.at(-1)).toMatchObject({ task: '# Cancel\n\nplease\n\nhttps://example.org/7\n\nonly the API' });
    writeFileSync(gh, '#!/bin/sh\necho broken\n');
    await expect(newPlan(daemon.context, [], { issue: 7 })).rejects.toMatchObject({ code: 'unavailable' });
    await expect(work(daemon.context, [], { issue: 7 })).rejects.toMatchObject({ code: 'unavailable' });
    expect(daemon.bodies).toHaveLength(2);
  });
});

test('pages come from and go to documents of Tiptap [S3-10, S3-11]', async () => {
  await using daemon = await answering();
  await using directory = await temporaryDirectory();
  const file = join(directory.path, 'page.json');
  const document = { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'old' }] }] };
  writeFileSync(file, JSON.stringify(document));
  await newPlan(daemon.context, [], { file, tiptap: true });
  await editPlan(daemon.context, plan.id, { page: 'Wish', file, tiptap: true });
  expect(sent(daemon.bodies)).toEqual([{ path: resolve('.'), text: 'old\n' }, { page: { id: 'Wish', text: 'old\n' } }]);
  await showPlan(daemon.context, plan.id, { page: 'Wish', tiptap: true });
  expect(JSON.parse(daemon.texts.at(-1) ?? '')).toEqual(document);
  writeFileSync(file, '{"type":3}');
  await expect(newPlan(daemon.context, [], { file, tiptap: true })).rejects.toMatchObject({ code: 'invalid_input' });
});

test('plan edit opens the page in the editor, and changes nothing if that fails', async () => {
  await using daemon = await answering();
  vi.stubEnv('VISUAL', '');
  vi.stubEnv('EDITOR', 'false');
  await expect(editPlan(daemon.context, plan.id, { page: 'Wish' })).rejects.toMatchObject({ code: 'usage' });
  expect(sent(daemon.bodies)).toEqual([]);
  vi.stubEnv('EDITOR', 'printf " and new" >>');
  await editPlan(daemon.context, plan.id, { page: 'Wish' });
  await editPlan(daemon.context, plan.id, { page: 'Wish', title: 'Need' });
  expect(sent(daemon.bodies)).toEqual([
    { page: { id: 'Wish', text: 'old and new' } },
    { page: { id: 'Wish', title: 'Need' } },
  ]);
  await expect(editPlan(daemon.context, plan.id, {})).rejects.toMatchObject({ code: 'usage' });
});

test('plan graph fails if the plan has a cycle; show prints a page as it is', async () => {
  await using daemon = await answering();
  expect(await graphPlan(daemon.context, plan.id, {})).toBe(1);
  expect(daemon.texts.at(-1)).toContain('a → b → a');
  expect(await showPlan(daemon.context, plan.id, { page: 'Wish' })).toBe(0);
  expect(daemon.texts.at(-1)).toBe('old');
  await expect(showPlan(daemon.context, plan.id, { page: 'x' })).rejects.toMatchObject({ code: 'not_found' });
});

test('plan show --watch ends with the plan; ls says how to begin', async () => {
  let asked = 0;
  await using daemon = await fakeDaemon(
    ({ response, url }) =>
      url.pathname === '/api/plans'
        ? sendJson(response, { plans: [] })
        : sendJson(response, { ...detail, plan: { ...plan, state: asked++ === 0 ? 'working' : 'completed' } }),
    { json: false },
  );
  expect(await showPlan(daemon.context, plan.id, { watch: true })).toBe(0);
  expect(asked).toBe(2);
  await listPlans(daemon.context, {});
  expect(daemon.texts.at(-1)).toBe('no plans; start one: pawl plan new "what you want"');
});
