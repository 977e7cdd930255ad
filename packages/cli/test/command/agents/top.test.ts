import { waitUntil } from '@pawl/testing/wait-until';
import { describe, expect, test } from 'vitest';
import { top } from '../../../src/command/agents/top.ts';
import { agentView, idOf } from '@pawl/testing/agent-view';
import { fakeTerminal } from '../../fake-terminal.ts';
import { fakeDaemon, sendFailure, sendJson } from '../fake-daemon.ts';
import type { Exchange } from '../fake-daemon.ts';

const interval = 0.01;
const session = { id: idOf(7), no: 1, pid: 1, providerSessionId: null, exitCode: null, sandbox: null };
const answer = (cpuMs: number) => ({
  daemon: { memoryBytes: 1, uptimeMs: 1 },
  counts: {},
  agents: [{ ...agentView({ activity: 'running', session }), cpuMs, memoryBytes: 0, processes: 1 }],
});

/** A daemon whose agent uses more and more of the processor. */
function busy() {
  let asked = 0;
  return ({ response }: Exchange) => sendJson(response, answer((asked += 1) ** 2 * 1_000));
}

/** A terminal with a program that may be left at once. */
function place() {
  const terminal = fakeTerminal();
  const exits: number[] = [];
  return Object.assign(terminal, { exits, exit: (code: number) => void exits.push(code) });
}

const left = '\u001B[?25h\u001B[?1049l';
const frames = (terminal: { written: string[] }) => terminal.written.filter((text) => text.startsWith('\u001B[H'));

describe('without a terminal', () => {
  test('it prints once, without escape codes', async () => {
    await using daemon = await fakeDaemon(busy(), { json: false });
    const terminal = Object.assign(place(), { output: { ...place().output, isTTY: false } });
    expect(await top(daemon.context, { interval }, terminal)).toBe(0);
    expect(daemon.texts).toHaveLength(1);
    // oxlint-disable-next-line no-control-regex -- an escape is what must not be there
    expect(daemon.texts[0]).not.toMatch(/\u001B/);
    expect(terminal.written).toEqual([]);
  });

  test('with --json it prints records, as many as requested, even on a terminal', async () => {
    await using daemon = await fakeDaemon(busy());
    const terminal = place();
    expect(await top(daemon.context, { interval, times: 3 }, terminal)).toBe(0);
    expect(daemon.printed.map(({ kind }) => kind)).toEqual(['top', 'top', 'top']);
    expect(terminal.written).toEqual([]);
  });

  test('the second frame shows the CPU usage', async () => {
    await using daemon = await fakeDaemon(busy(), { json: false });
    const terminal = Object.assign(place(), { output: { ...place().output, isTTY: false } });
    await top(daemon.context, { interval, times: 2 }, terminal);
    expect(daemon.texts[0]).toMatch(/^brave-otter +running +- /m);
    expect(daemon.texts[1]).toMatch(/^brave-otter +running +\d+\.\d /m);
  });
});

describe('on a terminal', () => {
  test.each([
    ['q', 0],
    ['\u0003', 130],
  ])('%j exits with %i and restores the terminal', async (key, code) => {
    await using daemon = await fakeDaemon(busy(), { json: false });
    const terminal = place();
    const running = top(daemon.context, { interval }, terminal);
    await waitUntil(() => frames(terminal).length >= 3, { what: 'three pictures' });
    terminal.press(`x${key}`);
    expect(await running).toBe(code);
    expect(terminal.written.at(-1)).toBe(left);
    expect(terminal.isRaw()).toBe(false);
    expect(terminal.listeners()).toBe(0);
  });

  test('a new size is drawn at once', async () => {
    await using daemon = await fakeDaemon(busy(), { json: false });
    const terminal = place();
    const running = top(daemon.context, { interval: 3_600 }, terminal);
    await waitUntil(() => frames(terminal).length === 1, { what: 'a picture' });
    terminal.resize(20, 3);
    expect(frames(terminal)[1]?.split('\r\n')).toHaveLength(3);
    terminal.press('q');
    expect(await running).toBe(0);
  });

  test('-n exits after so many frames', async () => {
    await using daemon = await fakeDaemon(busy(), { json: false });
    const terminal = place();
    expect(await top(daemon.context, { interval, times: 2 }, terminal)).toBe(0);
    expect(frames(terminal)).toHaveLength(2);
    expect(terminal.written.at(-1)).toBe(left);
  });

  test('a daemon that goes away and comes back is waited for', async () => {
    const terminal = place();
    // By pictures, not by requests: a request on an idle connection that was closed is sent a second time.
    const isAway = () => frames(terminal).length >= 1 && frames(terminal).length < 4;
    await using daemon = await fakeDaemon(
      ({ request, response }) => {
        if (isAway()) request.socket.destroy();
        else sendJson(response, answer(0));
      },
      { json: false },
    );
    expect(await top(daemon.context, { interval, times: 6 }, terminal)).toBe(0);
    const lines = frames(terminal).map((frame) => frame.split('\r\n')[3] ?? '');
    expect(lines.map((line) => line.length > '\u001B[K'.length)).toEqual([false, true, true, true, false, false]);
  });

  test('an error restores the terminal and is reported', async () => {
    let asked = 0;
    await using daemon = await fakeDaemon(
      ({ response }) => (++asked === 1 ? sendJson(response, answer(0)) : sendFailure(response, 'unauthorized')),
      { json: false },
    );
    const terminal = place();
    await expect(top(daemon.context, { interval }, terminal)).rejects.toMatchObject({ code: 'unauthorized' });
    expect(terminal.written.at(-1)).toBe(left);
    expect(terminal.exits).toEqual([]);
  });

  test('a stuck daemon does not prevent exiting', async () => {
    let asked = 0;
    await using daemon = await fakeDaemon(({ response }) => void (++asked === 1 && sendJson(response, answer(0))), {
      json: false,
    });
    const terminal = place();
    const running = top(daemon.context, { interval }, terminal);
    await waitUntil(() => asked === 2, { what: 'a question without an answer' });
    terminal.press('q');
    expect(await running).toBe(0);
    expect(terminal.written.at(-1)).toBe(left);
    expect(terminal.exits).toEqual([0]);
  });
});
