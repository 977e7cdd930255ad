import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { Inbox, parseUserTurn } from '../../src/scripted-agent/inbox.ts';
import { scriptedLimits } from '../../src/scripted-agent/limit.ts';
import { stage, userTurn } from './agent-process.ts';

const streamInput = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json'];

test('one process serves many turns, and EOF ends it with 0', async () => {
  await using on = await stage();
  const steps = [{ repeat: { times: 3, steps: [{ say: 'turn {turns}: {prompt}' }, 'wait'] } }, { say: 'never' }];
  await using agent = on.start([...streamInput, '--scenario', await on.scenario(steps)]);
  agent.child.stdin.write(userTurn('first\nsecond line'));
  await agent.untilSaid('turn 1: first');
  agent.child.stdin.write(
    userTurn([{ type: 'text', text: 'in' }, { type: 'image' }, { type: 'text', text: 'blocks' }]),
  );
  await agent.untilSaid('turn 2: in');
  agent.child.stdin.end(userTurn('without a newline').trimEnd());
  expect(await agent.exited).toEqual([0, null]);
  expect(agent.said).toEqual(['turn 1: first', 'turn 2: in', 'turn 3: without a newline']);
  expect(agent.results.map((line) => line['result'])).toEqual(agent.said);
});

test('malformed lines are reported on stderr and skipped', async () => {
  await using on = await stage();
  await using agent = on.start([
    ...streamInput,
    '--scenario',
    await on.scenario([{ say: '{turns} {prompt}' }, 'wait']),
  ]);
  agent.child.stdin.write('not json\n\n{"type":"control_request"}\n{"type":"user"}\n[1]\nnull\n');
  agent.child.stdin.write(Buffer.from([0xff, 0x00, 10]));
  agent.child.stdin.end(userTurn('good'));
  expect(await agent.exited).toEqual([0, null]);
  expect(agent.said).toEqual(['1 good']);
  expect(agent.stderr.match(/skipped an input line/g)).toHaveLength(6);
});

test('EOF before the first turn ends it with 0 and leaves no conversation', async () => {
  await using on = await stage();
  const id = '0b8e7c1a-5a53-4f0e-9d3c-2f6f3b1d7a11';
  const agent = on.start([...streamInput, '--session-id', id]);
  agent.child.stdin.end();
  expect(await agent.exited).toEqual([0, null]);
  const resumed = on.start([...streamInput, '--resume', id]);
  expect(await resumed.exited).toEqual([1, null]);
});

test('turns that arrive while it is busy wait for their turn', async () => {
  await using on = await stage();
  const steps = [{ repeat: { times: 3, steps: [{ say: '{prompt}' }, 'wait'] } }];
  await using agent = on.start([...streamInput, '--scenario', await on.scenario(steps)]);
  agent.child.stdin.end(userTurn('a') + userTurn('b') + userTurn('c'));
  expect(await agent.exited).toEqual([0, null]);
  expect(agent.said).toEqual(['a', 'b', 'c']);
});

test('a prompt of a megabyte arrives whole', async () => {
  await using on = await stage();
  const prompt = 'ä"\\\n'.repeat(250_000);
  const agent = on.start([...streamInput, '--scenario', await on.scenario(['echo_prompt'])]);
  agent.child.stdin.end(userTurn(prompt));
  expect(await agent.exited).toEqual([0, null]);
  expect(agent.said[0] === prompt).toBe(true);
});

test('a line beyond the limit is skipped without being kept', async () => {
  const reports: string[] = [];
  const stream = new PassThrough();
  const inbox = new Inbox(stream, (message) => reports.push(message));
  for (let sent = 0; sent <= scriptedLimits.inputBytes; sent += 1024 * 1024)
    stream.write(Buffer.alloc(1024 * 1024, 'x'));
  stream.end(`\n${userTurn('after it')}`);
  expect(await inbox.next()).toBe('after it');
  expect(await inbox.next()).toBeUndefined();
  expect(reports).toEqual([expect.stringContaining('skipped an input line of 9437184 bytes')]);
});

test('reading pauses while too many turns wait', async () => {
  const stream = new PassThrough();
  const inbox = new Inbox(stream, () => {});
  const total = scriptedLimits.queuedPrompts * 2;
  for (let number = 0; number < total; number += 1) stream.write(userTurn(`turn ${number}`));
  stream.end();
  expect(await inbox.next()).toBe('turn 0');
  expect(stream.readableLength).toBeGreaterThan(0);
  for (let number = 1; number < total; number += 1) expect(await inbox.next()).toBe(`turn ${number}`);
  expect(await inbox.next()).toBeUndefined();
});

test('each turn is shown when it arrives, and one that is not admitted does not wait', async () => {
  const stream = new PassThrough();
  const shown: string[] = [];
  const inbox = new Inbox(
    stream,
    () => {},
    ({ prompt }) => shown.push(prompt) !== 2,
  );
  stream.write(userTurn('a') + userTurn('b') + userTurn('c'));
  expect(await inbox.next()).toBe('a');
  expect(shown).toEqual(['a', 'b', 'c']);
  expect(await inbox.next()).toBe('c');
});

test('a user turn is text or text blocks', () => {
  expect(parseUserTurn(userTurn('text'))).toEqual({ ok: true, turn: { prompt: 'text', uuid: null } });
  expect(parseUserTurn(userTurn([{ type: 'image' }]))).toMatchObject({ ok: false });
  expect(parseUserTurn(userTurn([{ type: 'text', text: 1 }]))).toMatchObject({ ok: false });
  expect(parseUserTurn(userTurn('a', { uuid: 'no uuid' }))).toMatchObject({ turn: { uuid: null } });
  const uuid = '0b8e7c1a-5a53-4f0e-9d3c-2f6f3b1d7a10';
  expect(parseUserTurn(userTurn('a', { uuid }))).toMatchObject({ turn: { uuid } });
  expect(parseUserTurn('{"__proto__":{"type":"user"}}')).toMatchObject({ ok: false });
  expect(parseUserTurn('['.repeat(100_000))).toMatchObject({ ok: false });
});
