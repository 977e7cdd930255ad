import { PawlError } from '@pawl/schema/error';
import { expect, test } from 'vitest';
import { resolveAgent } from '../../src/agents/resolve.ts';
import { anAgent, idOf } from '../fixture.ts';

/** The error that resolving throws. */
function refusal(reference: string, matches: Parameters<typeof resolveAgent>[1]): PawlError {
  try {
    resolveAgent(reference, matches);
  } catch (error) {
    if (error instanceof PawlError) return error;
  }
  throw new Error('it was not refused');
}

test('one match is the agent', () => {
  const agent = anAgent();
  expect(resolveAgent('brave-otter', [agent])).toBe(agent);
});

test('no match says how to find one, and repeats only the start of a long reference', () => {
  const error = refusal('x'.repeat(5_000), []);
  expect(error.code).toBe('agent_not_found');
  expect(error.hint).toContain('pawl ps');
  expect(error.message.length).toBeLessThan(200);
});

test('a hostile reference is quoted', () => {
  const { message } = refusal('a\u001B[2J\n"b', []);
  for (const character of ['\u001B', '\n']) expect(message).not.toContain(character);
});

test('several matches are named, for people and for programs', () => {
  const matches = [anAgent(), anAgent({ id: idOf('agent2'), alias: 'calm-fox' })];
  const error = refusal('agent', matches);
  expect(error.code).toBe('ambiguous');
  for (const { id, alias } of matches) expect(error.message).toContain(`${alias} (${id})`);
  expect(error.details).toEqual({ matches: matches.map(({ id, alias }) => ({ id, alias })) });
});
