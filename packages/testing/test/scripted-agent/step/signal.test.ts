import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSignal } from '@pawl/schema/signal';
import { expect, test } from 'vitest';
import { waitUntil } from '../../../src/wait-until.ts';
import { stage, userTurn } from '../agent-process.ts';

test.each([
  ['done', { status: 'done', result: 'last words' }],
  [
    { status: 'done', result: 'for {task}' },
    { status: 'done', result: 'for Do it' },
  ],
  ['questions', { status: 'questions', questions: [{ id: 'q1', question: 'How shall I go on?' }] }],
  [
    { status: 'questions', questions: ['red?', { id: 'b', question: 'blue?' }] },
    {
      status: 'questions',
      questions: [
        { id: 'q1', question: 'red?' },
        { id: 'b', question: 'blue?' },
      ],
    },
  ],
  [
    { status: 'error', error: 'no way' },
    { status: 'error', error: 'no way' },
  ],
])('signal %j writes a valid signal and goes on', async (signal, expected) => {
  await using on = await stage();
  const agent = await on.play([{ say: 'last words' }, { signal }, { say: 'still here' }]);
  expect(agent.said).toEqual(['last words', 'still here']);
  const text = readFileSync(join(on.directory, '.pawl/output/signal.json'), 'utf8');
  expect(parseSignal(text)).toEqual({ ok: true, signal: expected });
});

test('a partial signal is half a file', async () => {
  await using on = await stage();
  await on.play([{ say: 'x' }, { signal: 'partial' }]);
  const text = readFileSync(join(on.directory, '.pawl/output/signal.json'), 'utf8');
  expect(text.startsWith('{"status":"done"')).toBe(true);
  expect(parseSignal(text)).toMatchObject({ ok: false });
});

test('a late signal comes after the result, at the end of the process', async () => {
  await using on = await stage();
  const signal = { status: 'late', delay: '300ms', result: 'better late' };
  await using agent = on.start(['--scenario', await on.scenario([{ signal }])]);
  agent.child.stdin.end('Go');
  await waitUntil(() => agent.results.length === 1, { what: 'the result' });
  const file = join(on.directory, '.pawl/output/signal.json');
  expect(existsSync(file)).toBe(false);
  expect(await agent.exited).toEqual([0, null]);
  expect(parseSignal(readFileSync(file, 'utf8'))).toEqual({
    ok: true,
    signal: { status: 'done', result: 'better late' },
  });
});

test('a late signal comes while a turn waits for the next one, too', async () => {
  await using on = await stage();
  const scenario = await on.scenario([{ signal: { status: 'late', delay: '10ms' } }, 'wait']);
  await using agent = on.start(['--input-format', 'stream-json', '--scenario', scenario]);
  agent.child.stdin.write(userTurn('Go'));
  await waitUntil(() => existsSync(join(on.directory, '.pawl/output/signal.json')), { what: 'the signal' });
  expect(agent.results).toHaveLength(1);
});
