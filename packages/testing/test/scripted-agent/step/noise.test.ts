import { expect, test } from 'vitest';
import { blocksOf, stage } from '../agent-process.ts';

test('a flood of 200,000 lines is complete and in order', async () => {
  await using on = await stage();
  const agent = await on.play([{ flood: { lines: 200_000, bytes: 200 } }, { say: 'dry' }]);
  expect(agent.code).toBe(0);
  const lines = agent.bytes.toString().split('\n');
  const flood = lines.filter((line) => line.includes('"flood '));
  expect(flood).toHaveLength(200_000);
  const wrong = flood.findIndex((line, index) => !line.includes(`"text":"flood ${index + 1} x`) || line.length !== 199);
  expect(wrong).toBe(-1);
  expect(JSON.parse(flood[77_777] ?? '')).toMatchObject({ type: 'assistant', session_id: agent.lines[0]?.session_id });
  expect(lines.at(-3)).toContain('dry');
});

test('flood lines are at least as long as they must be, and none is written for zero', async () => {
  await using on = await stage();
  const agent = await on.play([
    { flood: { lines: 2, bytes: 1 } },
    { flood: { lines: 0 } },
    { flood: { lines: 1, bytes: 300_000 } },
  ]);
  expect(blocksOf(agent.lines, 'assistant').map((block) => String(block['text']).slice(0, 8).trim())).toEqual([
    'flood 1',
    'flood 2',
    'flood 1',
  ]);
  expect(agent.bytes.length).toBeGreaterThan(300_000);
});

test('garbage is as long as asked, ends its line, and depends on the seed alone', async () => {
  await using on = await stage();
  const noise = async (garbage: object) => {
    const { bytes } = await on.play([{ garbage }, { say: 'after' }]);
    return bytes.subarray(bytes.indexOf(10) + 1, bytes.lastIndexOf('{"type":"assistant","message":{"id"'));
  };
  const [one, same, other] = [
    await noise({ bytes: 200_000 }),
    await noise({ bytes: 200_000, seed: 1 }),
    await noise({ bytes: 200_000, seed: 2 }),
  ];
  expect([one.length, other.length, one.at(-1)]).toEqual([200_000, 200_000, 10]);
  expect(one.equals(same)).toBe(true);
  expect(one.equals(other)).toBe(false);
  for (const kind of ['\0', '\u001b]52;', '\u001b[2J', '{"type":"result","subtype":"succ\n', '__proto__']) {
    expect(one.includes(kind)).toBe(true);
  }
  expect(() => new TextDecoder('utf-8', { fatal: true }).decode(one)).toThrow();
});

test('garbage can be one very long line, and small', async () => {
  await using on = await stage();
  const agent = await on.play([{ garbage: { bytes: 1, line_bytes: 5_000_000 } }, { say: 'after' }]);
  const [, empty, long, after] = agent.bytes.toString('latin1').split('\n');
  expect([empty, long?.length, JSON.parse(after ?? '').type]).toEqual(['', 4_999_999, 'assistant']);
});
