import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import type { EngineSetup } from '../support/engine.ts';
import { onEngine, openEngineSetup } from '../support/engine.ts';
import { outputText } from '../support/output.ts';

const finish = (input: Record<string, unknown>) => ({ tool: { name: 'Finish', input } });
const packet = {
  type: 'task',
  title: 'Add a login page',
  user_stories: ['As a user I want to log in'],
  acceptance_criteria: ['A wrong password is refused'],
};
const commit = 'echo a > a.txt && git add a.txt && git -c user.name=A -c user.email=a@localhost commit -qm "feat: a"';

/** The roles of a team, and one that a single file defines. */
const roles = ['supervisor', 'merge-queue', 'worker', 'workspace', 'review', 'herald'];

let setup: EngineSetup;
let daemon: TestDaemon;
beforeAll(async () => {
  setup = await openEngineSetup({
    scenarios: {
      task: { steps: [finish(packet)] },
      'no-title': { steps: [finish({ type: 'task' }), finish({ ...packet, title: 'Second try' })] },
      patch: { steps: [{ shell: commit }, finish({ type: 'patch', title: 'feat: a', summary: 'I added a.txt.' })] },
      search: {
        steps: [{ tool: { name: 'Grep', input: { query: 'hello' } } }, finish({ type: 'none', summary: 'Nowhere.' })],
      },
      forbidden: { steps: [finish(packet), finish({ type: 'none' })] },
      writes: {
        steps: [
          { write: { path: 'src/in.txt', content: 'in' } },
          { write: { path: 'out.txt', content: 'out' } },
          { shell: 'git status --short' },
          { shell: 'echo never' },
          finish({ type: 'none', summary: 'Tried.' }),
        ],
      },
      ...Object.fromEntries(
        roles.map((role) => [`role-${role}`, { steps: [finish({ type: 'none', summary: `I am ${role}.` })] }]),
      ),
      waits: { steps: [{ shell: 'touch ready; sleep 600' }] },
    },
  });
  daemon = setup.daemon;
});
afterAll(() => setup[Symbol.asyncDispose]());

async function runs(definition: string, scenario: string) {
  const agent = await daemon.work(undefined, { ...onEngine(), definition, task: `Go. [[scenario:${scenario}]]` });
  return daemon.ended(agent.id);
}

test('a lead ends in a task, which is on the plan for the first main that may change code [W2-12, W2-13]', async () => {
  for (const [scenario, name] of [
    ['task', packet.title],
    ['no-title', 'Second try'],
  ] as const) {
    const lead = await runs('lead', scenario);
    expect(lead.run).toMatchObject({ status: 'completed', detail: name });
    const { tasks } = await daemon.client.listTasks({ path: daemon.repository });
    const task = tasks.find((each) => each.name === name);
    expect(task).toMatchObject({ state: 'pending', definition: 'coder', createdBy: lead.id });
    expect(task?.description).toContain('- A wrong password is refused');
  }
  const { events } = await daemon.client.events({ tail: 200 });
  expect(events.map(({ data }) => data)).toContainEqual(expect.objectContaining({ outcome: packet }));
  const { agent } = await daemon.client.work(
    { path: daemon.repository, task: '', planned: packet.title, ...onEngine(), options: {} },
    randomUUID(),
  );
  expect(agent).toMatchObject({ definition: 'coder' });
  await daemon.client.stopAgent(agent.id);
});

test('a coder ends in a patch: its commits are there, and its summary is the result [W2-12]', async () => {
  const coder = await runs('coder', 'patch');
  expect(coder.run).toMatchObject({ status: 'completed', detail: 'I added a.txt.' });
  expect(await git(daemon.repository, ['log', '-1', '--format=%s', coder.branch ?? ''])).toBe('feat: a');
});

test('each role of a team runs on the engine, with the tools of its definition; a new one is one file [S4-32]', async () => {
  daemon.define('herald', { kind: 'main', role: 'herald', class: 'persistent', nudge: 'News?', tools: ['Read'] });
  // One after the other: the supervisor and the merge queue get mail, and another turn, when a later one completes.
  for (const role of roles) {
    expect((await runs(role, `role-${role}`)).run, role).toMatchObject({
      status: 'completed',
      detail: `I am ${role}.`,
    });
    const tools = setup.model.requests.find(({ scenario }) => scenario === `role-${role}`)?.tools ?? [];
    expect(tools, role).toContain('Read');
    expect(tools.includes('Write'), role).toBe(['worker', 'workspace'].includes(role));
    expect(tools.includes('Bash'), role).toBe(role !== 'herald');
  }
});

test('an outcome that the policy does not allow is refused before it counts [S2-17]', async () => {
  const coder = await runs('coder', 'forbidden');
  expect(coder.run).toMatchObject({ status: 'completed' });
  expect(await outputText(daemon.client, coder.id)).toContain('does not allow Finalize');
  const { tasks } = await daemon.client.listTasks({ path: daemon.repository });
  expect(tasks.filter(({ createdBy }) => createdBy === coder.id)).toEqual([]);
});

test('work_globs and limits of a definition bind each call of the engine [W2-05, S2-16]', async () => {
  daemon.define('narrow', {
    kind: 'main',
    class: 'ephemeral',
    tools: ['Write', 'Bash(git:*)'],
    work_globs: ['src/**'],
  });
  const agent = await runs('narrow', 'writes');
  const said = await outputText(daemon.client, agent.id);
  expect(said).toContain('Created src/in.txt');
  expect(said).toContain('out.txt is outside of the work scope of narrow, which is src/**');
  expect(said).toContain('?? src/');
  expect(said).toContain('does not allow Bash, only Bash(git:*)');
  expect(existsSync(join(agent.worktree ?? '', 'out.txt'))).toBe(false);
});

test('a lock keeps others from writing until it is released or its lease ends [W2-06]', async () => {
  const workers = await Promise.all(
    ['one', 'two'].map(() => daemon.work(undefined, { ...onEngine(), task: 'Wait. [[scenario:waits]]' })),
  );
  const [one, two] = workers.map(({ id }) => ({ id, client: agentClient(daemon.home, id) }));
  if (one === undefined || two === undefined) throw new Error('There are two.');
  const write = (who: typeof one, input: string) => who.client.gate('@current', { tool: 'Write', input });
  const { lock } = await one.client.lockPaths('@current', { globs: ['src/**'] });
  expect(lock.expiresAt - lock.createdAt).toBe(5 * 60_000);
  expect(await write(one, 'src/a.ts')).toMatchObject({ allowed: true });
  expect(await write(two, 'src/a.ts')).toMatchObject({
    allowed: false,
    reason: expect.stringContaining('is locked') as string,
  });
  expect(await write(two, 'docs/a.md')).toMatchObject({ allowed: true });
  await expect(two.client.lockPaths('@current', { globs: ['**/*.ts'] })).rejects.toMatchObject({ code: 'conflict' });
  expect((await one.client.lockPaths('@current', { globs: ['src/**'] })).lock.id).toBe(lock.id);
  const { locks } = await two.client.listLocks('@current');
  expect(locks).toMatchObject([{ id: null, owner: workers[0]?.alias, globs: ['src/**'] }]);
  expect(await two.client.unlockPaths('@current', 'no-such-lock')).toEqual({ released: false });
  expect(await one.client.unlockPaths('@current', lock.id)).toEqual({ released: true });
  expect(await write(two, 'src/a.ts')).toMatchObject({ allowed: true });
  await expect(one.client.lockPaths('@current', { globs: ['../x'] })).rejects.toMatchObject({ code: 'invalid_input' });
  await two.client.lockPaths('@current', { globs: ['src/**'], seconds: 1 });
  await waitUntil(async () => (await write(one, 'src/a.ts')).allowed, { what: 'the end of the lease' });
  await two.client.lockPaths('@current', { globs: ['src/**'] });
  await daemon.client.killAgent(two.id, {});
  await waitUntil(async () => (await write(one, 'src/a.ts')).allowed, { what: 'the end of the owner' });
  await daemon.client.stopAgent(one.id);
});
