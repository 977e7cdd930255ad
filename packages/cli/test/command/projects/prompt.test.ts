import { idSchema } from '@pawl/schema/id';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inputs, prompt } from '../../../src/command/projects/prompt.ts';
import { runCli } from '../../run-cli.ts';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

const sent = {
  agentId: 'a'.repeat(22),
  session: { no: 2, purpose: 'work', conversation: 'new' },
  system: '<role>\nYou.\n</role>\n',
  turn: '<task>\nDo it.\u001B[2J\n</task>\n',
  bytes: 60,
  truncated: false,
};

test('a prompt is shown in its two halves, as plain text', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, sent), { json: false });
  expect(await prompt(daemon.context, 'brave-otter', { session: 2 })).toBe(0);
  expect(daemon.requests).toEqual(['GET /api/agents/brave-otter/prompt?session=2']);
  expect(daemon.texts).toEqual([
    '── session 2 (work): system prompt\n<role>\nYou.\n</role>\n── session 2 (work): first message\n<task>\nDo it.\n</task>',
  ]);
});

test('says if all of it was in the first message, or if it is cut', async () => {
  const cut = { ...sent, system: '', truncated: true, bytes: 2_000_000 };
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, cut), { json: false });
  await prompt(daemon.context, 'brave-otter', {});
  expect(daemon.requests).toEqual(['GET /api/agents/brave-otter/prompt']);
  expect(daemon.texts[0]).not.toContain('system prompt');
  expect(daemon.texts[0]).toContain('… cut; all of it has 2000000 bytes');
  expect(daemon.printed).toEqual([{ kind: 'prompt', data: cut }]);
});

test('input files are shown one after the other', async () => {
  const file = { path: 'task.md', bytes: 6, content: 'do it\n', binary: false, truncated: false };
  const files = [file, { ...file, path: 'x\n\u001B]0;y', content: null, binary: true }, { ...file, truncated: true }];
  const answer = { agentId: sent.agentId, files, truncated: true };
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json: false });
  expect(await inputs(daemon.context, 'brave-otter')).toBe(0);
  expect(daemon.requests).toEqual(['GET /api/agents/brave-otter/inputs']);
  expect(daemon.texts[0]?.split('\n')).toEqual([
    '── task.md (6 bytes)',
    'do it',
    '── x \u{FFFD}]0;y (6 bytes)',
    'not text',
    '── task.md (6 bytes)',
    'do it',
    '… cut',
    'not everything is shown',
  ]);
});

test('`pawl id` prints a new id each time, and needs no daemon [S3-85]', async () => {
  await using place = await temporaryDirectory();
  const env = { PAWL_HOME: place.path };
  const [one, other] = await Promise.all([runCli(['id'], env), runCli(['id', '--json'], env)]);
  expect(one).toMatchObject({ code: 0, stderr: '' });
  expect(idSchema.parse(one.stdout.trimEnd())).toHaveLength(22);
  const { data } = JSON.parse(other.stdout) as { data: { id: string } };
  expect(idSchema.parse(data.id)).not.toBe(one.stdout.trimEnd());
  expect(readdirSync(place.path)).toEqual([]);
});
