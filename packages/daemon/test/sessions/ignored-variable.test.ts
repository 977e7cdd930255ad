import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  const ignored = ['SCRIPTED_BASE_URL'];
  daemon = await startTestDaemon({
    providers: {
      stubborn: { extends: 'scripted', variables: { ignored } },
      told: { extends: 'scripted', variables: { ignored: [] } },
    },
  });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const environment = { SCRIPTED_BASE_URL: 'http://127.0.0.1:1/v1', SCRIPTED_API_KEY: 'sk-of-a-gateway-0123456789' };

test('work is refused before anything is stored or started if the shell names a server that the provider ignores', async () => {
  const agents = async () => (await daemon.client.listAgents({})).agents.length;
  const before = await agents();
  await expect(daemon.work(['complete'], { provider: 'stubborn', environment })).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('stubborn ignores SCRIPTED_BASE_URL') as string,
    hint: expect.stringContaining('pawl account add stubborn --key-env SCRIPTED_API_KEY --base-url') as string,
  });
  expect(await agents()).toBe(before);
  expect((await daemon.client.listAccounts()).accounts).toEqual([]);
});

test('it is accepted with an account, without the variable, and if config.yaml says that this is known', async () => {
  const { account } = await daemon.client.addAccount({
    provider: 'stubborn',
    kind: 'api-key',
    name: 'gateway',
    secret: 'sk-kept-0123456789-abcdef',
  });
  const asked = [
    { provider: 'stubborn', environment, account: account.name },
    { provider: 'stubborn', environment: { SCRIPTED_API_KEY: environment.SCRIPTED_API_KEY } },
    { provider: 'told', environment },
  ];
  for (const body of asked) {
    const agent = await daemon.work(['complete'], { ...body, alias: `a-${randomUUID().slice(0, 8)}` });
    expect((await daemon.ended(agent.id)).run).toMatchObject({ status: 'completed' });
  }
});
