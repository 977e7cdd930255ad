import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stage } from '../agent-process.ts';

const id = '0b8e7c1a-5a53-4f0e-9d3c-2f6f3b1d7a17';

test('complete writes the signal and ends the process, with steps left for a resume', async () => {
  await using on = await stage();
  const steps = [{ complete: { summary: 'did {task}' } }, { say: 'after' }, 'complete'];
  const agent = await on.play(steps, { args: ['--session-id', id], prompt: 'the job' });
  const output = join(on.directory, '.pawl/output');
  const signal = (): unknown => JSON.parse(readFileSync(join(output, 'signal.json'), 'utf8'));
  expect(agent.code).toBe(0);
  expect(signal()).toEqual({ status: 'done', result: 'did the job' });
  expect(readdirSync(output)).toEqual(['signal.json']);
  expect(agent.results).toHaveLength(1);
  const resumed = on.start(['--resume', id]);
  resumed.child.stdin.end('more');
  expect(await resumed.exited).toEqual([0, null]);
  expect(resumed.said).toEqual(['after']);
  expect(signal()).toEqual({ status: 'done', result: 'after' });
});

test('complete does not write through a link that leaves the working directory', async () => {
  await using on = await stage();
  const outside = join(on.path, 'outside');
  mkdirSync(outside);
  symlinkSync(outside, join(on.directory, '.pawl'));
  const agent = await on.play(['complete']);
  expect(agent.code).toBe(1);
  expect(agent.results[0]).toMatchObject({ is_error: true });
  expect(readdirSync(outside)).toEqual([]);
});

test('a scenario that just ends leaves no signal', async () => {
  await using on = await stage();
  const agent = await on.play([{ say: 'bye' }]);
  expect(agent.code).toBe(0);
  expect(agent.results[0]).toMatchObject({ is_error: false, result: 'bye' });
  expect(existsSync(join(on.directory, '.pawl'))).toBe(false);
});

test.each([
  [{ crash: { code: 7 } }, 7, null],
  ['crash', 1, null],
  [{ crash: { signal: 'SIGKILL' } }, null, 'SIGKILL'],
  [{ crash: { signal: 'SIGTERM' } }, null, 'SIGTERM'],
  [{ crash: { signal: 'SIGSEGV' } }, null, 'SIGSEGV'],
])('%j ends the process without a result, after all it said', async (step, code, signal) => {
  await using on = await stage();
  const agent = await on.play([{ say: 'last words' }, step, { say: 'never' }], { args: ['--session-id', id] });
  expect([agent.code, agent.signal]).toEqual([code, signal]);
  expect(agent.said).toEqual(['last words']);
  expect(agent.results).toEqual([]);
});

test('a resumed conversation goes on after its crash', async () => {
  await using on = await stage();
  await on.play([{ crash: { signal: 'SIGKILL' } }, { say: 'back' }], { args: ['--session-id', id] });
  const resumed = on.start(['--resume', id]);
  resumed.child.stdin.end('Go on');
  expect(await resumed.exited).toEqual([0, null]);
  expect(resumed.said).toEqual(['back']);
});

test('limit reports a usage limit as Claude Code does, and is over for a resume', async () => {
  await using on = await stage();
  const until = '2030-01-01T17:05:00Z';
  const agent = await on.play([{ limit: { until } }, { say: 'back' }], { args: ['--session-id', id] });
  expect(agent.code).toBe(1);
  expect(agent.lines.slice(1)).toMatchObject([
    {
      type: 'rate_limit_event',
      rate_limit_info: { status: 'rejected', resetsAt: Date.parse(until) / 1000, rateLimitType: 'five_hour' },
    },
    {
      type: 'result',
      subtype: 'success',
      is_error: true,
      api_error_status: 429,
      result: "You've hit your 5-hour limit · resets 5:05pm (UTC)",
    },
  ]);
  const resumed = on.start(['--resume', id]);
  resumed.child.stdin.end('Go on');
  await resumed.exited;
  expect(resumed.said).toEqual(['back']);
});

test('limit takes seconds, a duration, or no end at all', async () => {
  await using on = await stage();
  const resetsAt = async (step: unknown) => {
    const agent = await on.play([step]);
    return (agent.lines[1] as unknown as { rate_limit_info: { resetsAt?: number } }).rate_limit_info.resetsAt;
  };
  expect(await resetsAt({ limit: { until: 1_900_000_000 } })).toBe(1_900_000_000);
  expect(await resetsAt('limit')).toBeUndefined();
  const before = Date.now() / 1000;
  expect(await resetsAt({ limit: { until: '1h' } })).toBeGreaterThanOrEqual(Math.floor(before + 3600));
});
