import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isAlive } from '../../src/process/identity.ts';
import { closeInput, sendInput } from '../../src/session/input.ts';
import { startSession } from '../../src/session/start-session.ts';
import { eventually, exitCode, host, textOf, useWorkspace } from '../support/workspace.ts';

const workspace = useWorkspace();

test('concurrent lines arrive whole and in order', async () => {
  const session = workspace.spec('exec cat');
  await startSession(host, session);
  const lines = Array.from(
    { length: 30 },
    (_, index) => `${index}:${String.fromCodePoint(97 + (index % 26)).repeat(20_000)}`,
  );
  await Promise.all(lines.map(async (line) => sendInput(host, session.dir, line)));
  await closeInput(host, session.dir);
  expect(await exitCode(session.dir)).toBe(0);
  expect(textOf(session.dir, 'out') === `${lines.join('\n')}\n`).toBe(true);
});

test('a process that does not read: a timeout, and the next line is not glued to the torn one', async () => {
  const session = workspace.spec(`until [ -e '${workspace.root}/go' ]; do sleep 0.01; done; exec cat`);
  await startSession(host, session);
  await eventually(() => existsSync(join(session.dir, 'fed')));
  const large = 'x'.repeat(200_000);
  await expect(sendInput(host, session.dir, large, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'timeout' });
  await expect(sendInput(host, session.dir, 'no room', { timeoutMs: 50 })).rejects.toMatchObject({ code: 'timeout' });
  writeFileSync(join(workspace.root, 'go'), '');
  await sendInput(host, session.dir, 'room again');
  await sendInput(host, session.dir, 'and again');
  await closeInput(host, session.dir);
  expect(await exitCode(session.dir)).toBe(0);
  const lines = textOf(session.dir, 'out').split('\n');
  expect(lines[0]).toMatch(/^x{1000,}$/);
  expect(lines.slice(1)).toEqual(['room again', 'and again', '']);
});

test('no line lands in the middle of a prompt that is still being fed', async () => {
  const session = workspace.spec(`until [ -e '${workspace.root}/go' ]; do sleep 0.01; done; exec cat`, {
    prompt: 'p'.repeat(300_000),
  });
  await startSession(host, session);
  await expect(sendInput(host, session.dir, 'early', { timeoutMs: 50 })).rejects.toMatchObject({ code: 'timeout' });
  writeFileSync(join(workspace.root, 'go'), '');
  await sendInput(host, session.dir, '!');
  await closeInput(host, session.dir);
  await exitCode(session.dir);
  expect(textOf(session.dir, 'out') === `${session.prompt}!\n`).toBe(true);
});

test('after the end, after closing, without a FIFO, and without a session: a conflict', async () => {
  const ended = workspace.spec('exit 0');
  const closed = workspace.spec('cat; exec sleep 600');
  const file = workspace.spec('exec sleep 600', { stdin: 'file' });
  const [identity] = await Promise.all([ended, closed, file].map((each) => startSession(host, each)));
  await exitCode(ended.dir);
  await eventually(() => identity && !isAlive(identity));
  await closeInput(host, closed.dir);
  for (const dir of [ended.dir, closed.dir, file.dir, join(workspace.root, 'none')]) {
    await expect(sendInput(host, dir, 'hello')).rejects.toMatchObject({ code: 'conflict' });
  }
  await expect(closeInput(host, file.dir)).rejects.toMatchObject({ code: 'conflict' });
  await closeInput(host, closed.dir);
  await closeInput(host, ended.dir);
});

test('a plain file in the place of the FIFO is not written to', async () => {
  const { dir } = workspace.spec(':');
  mkdirSync(dir);
  for (const name of ['in', 'fed']) writeFileSync(join(dir, name), '');
  await expect(sendInput(host, dir, 'hello')).rejects.toMatchObject({ code: 'conflict' });
  expect(textOf(dir, 'in')).toBe('');
});

test('closing at once still gives the command its whole prompt, then one EOF', async () => {
  for (let round = 0; round < 10; round += 1) {
    const session = workspace.spec('cat; cat; echo end', { prompt: 'y'.repeat(150_000) });
    await startSession(host, session);
    await closeInput(host, session.dir);
    expect(await exitCode(session.dir)).toBe(0);
    expect(textOf(session.dir, 'out') === `${session.prompt}end\n`).toBe(true);
  }
});

test('input works when the shim was killed', async () => {
  const session = workspace.spec('cat; echo end');
  const identity = await startSession(host, session);
  await sendInput(host, session.dir, 'one');
  process.kill(identity.pid, 'SIGKILL');
  await eventually(() => !isAlive(identity));
  await sendInput(host, session.dir, 'two');
  await closeInput(host, session.dir);
  await eventually(() => textOf(session.dir, 'out') === 'one\ntwo\nend\n');
});

test('an input above the limit is refused', async () => {
  await expect(sendInput(host, workspace.root, 'x'.repeat(5_000_000))).rejects.toMatchObject({ code: 'too_large' });
});
