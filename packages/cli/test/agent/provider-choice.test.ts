import { PawlError } from '@pawl/schema/error';
import { expect, test } from 'vitest';
import { withProvider } from '../../src/agent/provider-choice.ts';
import { fakeDaemon, sendJson } from '../command/fake-daemon.ts';

const open = () =>
  new PawlError('no_provider', 'Several are installed.', { details: { installed: ['claude', 'codex'] } });
const given = { provider: undefined, path: '/shop' };

/** Somebody at a terminal with these answers. */
function person(...answers: string[]) {
  const asked: string[] = [];
  const ask = async (question: string) => {
    asked.push(question);
    return answers.shift() ?? '';
  };
  return { present: true, asked, ask };
}

/** Refuses until a provider is named, and gives that. */
const send = async (provider: string | undefined) => {
  if (provider === undefined) throw open();
  return provider;
};

test.each([
  ['2', 'codex'],
  ['claude', 'claude'],
])('a person at a terminal chooses %j and stores it for the project', async (answer, chosen) => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, {}), { json: false });
  const somebody = person(answer, 'y');
  expect(await withProvider(daemon.context, given, send, somebody)).toBe(chosen);
  expect(somebody.asked[0]).toContain('1 claude, 2 codex');
  expect(daemon.requests).toEqual(['POST /api/projects/settings']);
  expect(daemon.bodies).toEqual([{ path: '/shop', provider: chosen }]);
});

test('without a yes nothing is stored, and an invalid answer leaves the error', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, {}), { json: false });
  expect(await withProvider(daemon.context, given, send, person('1', ''))).toBe('claude');
  await expect(withProvider(daemon.context, given, send, person('3'))).rejects.toMatchObject({ code: 'no_provider' });
  expect(daemon.requests).toEqual([]);
});

test('does not ask without a terminal, with --json, or if none is installed', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, {}), { json: false });
  const away = { ...person('1', 'y'), present: false };
  await expect(withProvider(daemon.context, given, send, away)).rejects.toMatchObject({ code: 'no_provider' });
  const somebody = person('1', 'y');
  await expect(withProvider({ ...daemon.context, json: true }, given, send, somebody)).rejects.toThrow('Several');
  const none = async () => {
    throw new PawlError('no_provider', 'None is installed.', { details: { installed: [] } });
  };
  await expect(withProvider(daemon.context, given, none, somebody)).rejects.toThrow('None');
  expect(somebody.asked).toEqual([]);
});
