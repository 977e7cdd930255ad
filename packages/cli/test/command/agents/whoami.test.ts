import { expect, test } from 'vitest';
import { whoami } from '../../../src/command/agents/whoami.ts';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

const agent = { id: 'AAAAAAAAAAAAAAAAAAAAAA', alias: 'brave-otter' };

test.each([
  ['agent', 'brave-otter (AAAAAAAAAAAAAAAAAAAAAA)'],
  ['person', 'a person, acting as brave-otter (AAAAAAAAAAAAAAAAAAAAAA)'],
])('says that the caller is %s', async (caller, text) => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { caller, agent }), { json: false });
  expect(await whoami(daemon.context)).toBe(0);
  expect(daemon.requests).toEqual(['GET /api/whoami']);
  expect(daemon.texts).toEqual([text]);
  expect(daemon.printed).toEqual([{ kind: 'whoami', data: { caller, agent } }]);
});
