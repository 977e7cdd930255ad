import { defaultChoices } from '@pawl/daemon/platform/platform';
import type { Sandbox } from '@pawl/sandbox/probe';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { sandboxTest } from './machine.ts';

const { sandbox, network } = defaultChoices;
const missing: Sandbox = { works: false, why: 'missing', reason: 'bwrap is not there.', hint: 'Install bwrap.' };

/** Asks for work, and returns the answer. */
async function asked(daemon: TestDaemon, body: { provider?: string; access?: 'full' | 'ask' } = {}) {
  const scenario = await daemon.scenario([{ say: 'hello' }, 'complete']);
  const task = { path: daemon.repository, task: 'a task', provider: 'scripted', options: { scenario }, ...body };
  return daemon.client.work(task, randomUUID());
}

sandboxTest(
  'an agent about which nobody says anything has full access, in a sandbox [sandbox by default]',
  async () => {
    await using daemon = await startTestDaemon({ choices: { sandbox, network } });
    const { agent, confinement } = await asked(daemon);
    expect({ access: agent.access, confinement }).toEqual({ access: 'full', confinement: { sandbox: 'on' } });
    expect(await daemon.ended(agent.id)).toMatchObject({ run: { status: 'completed' }, session: { sandbox: 'on' } });
    const { sessions } = await daemon.client.inspectAgent(agent.id);
    expect(sessions).toMatchObject([{ sandbox: 'on' }]);
    expect(await daemon.promptOf(sessions[0]?.directory ?? '')).toContain('You run in a sandbox');
  },
);

sandboxTest('an agent that has full access in a sandbox does not go on without one [sandbox by default]', async () => {
  const first = await startTestDaemon({ choices: { sandbox, network } });
  const { alias, id } = await first.rested();
  await first.stop();
  const options = { home: first.home.root, choices: { sandbox } };
  await using second = await startTestDaemon({ ...options, sandbox: missing });
  await second.client.resumeAgent(id, { prompt: 'go on' }, randomUUID());
  expect((await second.ended(id)).run).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining(`${alias} has full access only in a sandbox`),
  });
  await first[Symbol.asyncDispose]();
});

test('without a sandbox an agent asks, unless a person says otherwise, and the answer says why [sandbox missing]', async () => {
  await using daemon = await startTestDaemon({ choices: { sandbox }, sandbox: missing });
  const { agent, confinement } = await asked(daemon);
  expect({ access: agent.access, confinement }).toEqual({
    access: 'ask',
    confinement: {
      sandbox: 'missing',
      reason: missing.reason,
      hint: expect.stringMatching(/^Install bwrap\. Until then/),
    },
  });
  expect(await daemon.ended(agent.id)).toMatchObject({ run: { status: 'completed' }, session: { sandbox: 'off' } });
  const { agent: wide } = await asked(daemon, { access: 'full' });
  expect(wide.access).toBe('full');
  expect((await daemon.ended(wide.id)).run).toMatchObject({ status: 'completed' });
});

test('a provider that cannot ask is refused without a sandbox, with the reason and what to do [sandbox missing]', async () => {
  await using daemon = await startTestDaemon({ choices: { sandbox }, sandbox: missing });
  await expect(asked(daemon, { provider: 'pi' })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringMatching(/pi cannot ask.*no sandbox.*bwrap is not there/),
    hint: expect.stringMatching(/Install bwrap.*--access full.*sandbox off/),
  });
});

test('a person who has configured full access, or no sandbox, gets it without one', async () => {
  await using wide = await startTestDaemon({ choices: { sandbox, access: 'full' }, sandbox: missing });
  expect((await asked(wide)).agent.access).toBe('full');
  await using off = await startTestDaemon({ choices: { sandbox: { ...sandbox, mode: 'off' } }, sandbox: missing });
  expect(await asked(off)).toMatchObject({ agent: { access: 'full' }, confinement: { sandbox: 'off' } });
});

test('a home that requires a sandbox refuses work without one [sandbox missing]', async () => {
  const required = { ...sandbox, mode: 'required' as const };
  await using daemon = await startTestDaemon({ choices: { sandbox: required }, sandbox: missing });
  // Nothing starts, so nobody is asked either.
  await expect(asked(daemon)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('bwrap'),
    hint: 'Install bwrap.',
  });
});
