import { refuseLostToken } from '@pawl/protocol/node/lost-token';
import { newId } from '@pawl/schema/id';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fakeDaemon, sendJson } from './command/fake-daemon.ts';
import { runCli } from './run-cli.ts';

const person = {
  PAWL_AGENT_ID: '',
  PAWL_AGENT_TOKEN: '',
  PAWL_SESSION: '',
  PAWL_HELPER: '',
  AI_HELPER: '',
  AI_AGENT_ID: '',
};

test.each([
  ['its id', { PAWL_AGENT_ID: newId() }],
  ['its session', { PAWL_SESSION: newId() }],
])('a command in an agent that has lost its token and kept %s reaches nothing [7.23]', async (_which, kept) => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, {}));
  const { root } = daemon.context.home;
  const checkout = join(root, 'shop');
  await sampleRepository(checkout);
  const env = { ...person, PAWL_HOME: root, ...kept };
  for (const words of [
    ['change', 'merge', 'abc', '-C', checkout],
    ['work', 'x', '-C', checkout, '--provider', 'claude'],
    ['stop', 'brave-otter'],
    ['whoami'],
    ['config', 'set', 'provider', 'claude'],
    ['hooks', 'install', '--yes', '-C', checkout],
    ['hooks', 'uninstall', '--yes', '-C', checkout],
  ]) {
    const { code, stderr } = await runCli(words, env);
    expect([words.join(' '), code]).toEqual([words.join(' '), 8]);
    expect(stderr).toContain('PAWL_AGENT_TOKEN');
    expect(stderr).toContain('→ Let the variable through');
  }
  expect(daemon.requests).toEqual([]);
  expect(existsSync(daemon.context.home.config)).toBe(false);
  expect(existsSync(join(checkout, '.claude'))).toBe(false);
});

test('a person, an agent with its token, and a helper that never had one are not refused for that', () => {
  for (const environment of [
    {},
    { PAWL_AGENT_ID: newId(), PAWL_SESSION: newId(), PAWL_AGENT_TOKEN: 'x' },
    { PAWL_AGENT_ID: 'helper-ab12.1763251200', PAWL_HELPER: '1' },
    { PAWL_AGENT_ID: '', PAWL_SESSION: '' },
  ])
    expect(() => refuseLostToken(environment)).not.toThrow();
});
