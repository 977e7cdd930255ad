import { width } from '@pawl/present/text';
import type { QueueView } from '@pawl/protocol/queue/view';
import { idOf } from '@pawl/testing/agent-view';
import { describe, expect, test } from 'vitest';
import { resolve } from 'node:path';
import { checkQueue, logQueue, showQueues, turnQueue } from '../../../src/command/changes/queue.ts';
import { changeView, checkView, queueView } from '../../change-view.ts';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

/** What `pawl queue` prints for these queues. */
async function shown(...queues: QueueView[]): Promise<string[]> {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { queues }), { json: false });
  expect(await showQueues(daemon.context, {})).toBe(0);
  expect(daemon.printed).toEqual([{ kind: 'queues', data: { queues } }]);
  return daemon.texts[0]?.split('\n') ?? [];
}

describe('queue', () => {
  test('main is green, and nothing waits', async () => {
    expect(await shown(queueView({ checks: [checkView({ changes: [] })] }))).toEqual([
      'shop  main bbbbbbbbbb is green, 12 tests',
      '  nothing is queued',
      'last checks',
      '  check000  main  passed (2.0s, 12 tests)',
      'npm test · squash, up to 16 at once · merged by itself · as committed',
    ]);
  });

  test('waiting changes are in order, with the reason, within 80 columns', async () => {
    const changes = [
      changeView({ state: 'testing', detail: 'checks are running', title: 'x'.repeat(100) }),
      changeView({
        id: idOf(2),
        state: 'needs-human-input',
        detail: `fewer tests run\u001b[2J ${'y'.repeat(100)}`,
        author: null,
      }),
    ];
    const running = [checkView({ outcome: 'running', endedAt: null, startedAt: Date.now() - 65_000, counts: null })];
    const waiting = { reason: 'your checkout of main has changes', changes: [idOf(3)], hint: null, since: 1 };
    const lines = await shown(queueView({ changes, running, waiting, green: 'a'.repeat(40) }));
    expect(lines[0]).toBe('shop  main bbbbbbbbbb is not checked yet');
    expect(lines[1]).toBe('1 green change cannot go in yet: your checkout of main has changes');
    expect(lines[2]).toMatch(/^ {2}1 {2}change00 {2}testing {12}brave-otter {5}x+…$/);
    expect(lines[3]).toBe('     checks are running');
    expect(lines[4]).toMatch(/^ {2}2 {2}agent000 {2}needs-human-input {2}a person /);
    expect(lines[5]).toMatch(/^ {5}fewer tests run y+…$/);
    expect(lines[6]).toBe('running');
    expect(lines[7]).toMatch(/^ {2}check000 {2}main \+ 1 change {2}running \(1m0\ds\)$/);
    for (const line of lines) expect(width(line)).toBeLessThanOrEqual(80);
  });

  test('an emergency shows since when, that nothing is merged, and who repairs it [S4-07]', async () => {
    const emergency = {
      commit: 'b'.repeat(40),
      checkId: idOf(5),
      since: Date.now() - 192_000,
      fixerId: idOf(1),
      fixer: { id: idOf(1), alias: 'calm-fox' },
      trouble: null,
    };
    const lines = await shown(queueView({ emergency, green: 'a'.repeat(40), pausedAt: Date.now() - 60_000 }));
    expect(lines[0]).toBe('shop  main bbbbbbbbbb is red');
    expect(lines[1]).toMatch(/^EMERGENCY: main is red at bbbbbbbbbb for 3m1\ds$/);
    expect(lines[2]).toContain('nothing is merged; calm-fox repairs it');
    expect(lines[4]).toMatch(/^paused for 1m0\ds; resume it: pawl queue resume$/);
    const unattended = { ...emergency, fixerId: null, fixer: null };
    const [, , none] = await shown(queueView({ emergency: unattended }));
    expect(none).toContain('no agent repairs it yet');
    const [, , failed] = await shown(queueView({ emergency: { ...unattended, trouble: 'No coding agent' } }));
    expect(failed).toContain('no agent could be started to repair it: No coding agent');
    expect(failed).toContain('pawl change merge <change> --fix');
  });

  test('says why nothing can be merged: trouble, no checks, switched off', async () => {
    const { config } = queueView();
    const unread = { ...config, enabled: false, checks: [], source: 'none' as const };
    expect(await shown(queueView({ trouble: 'config.yaml:3: no such key', config: unread }))).toEqual([
      'shop  main bbbbbbbbbb is green, 12 tests',
      'nothing moves: config.yaml:3: no such key',
      '  nothing is queued',
    ]);
    // A pass that failed has recorded the same trouble.
    const waiting = { reason: 'config.yaml:3: no such key', changes: [], hint: null, since: null };
    const twice = await shown(queueView({ trouble: waiting.reason, waiting, config: unread }));
    expect(twice.filter((line) => line.startsWith('nothing moves'))).toHaveLength(1);
    const [, none] = await shown(queueView({ config: { ...config, checks: [], source: 'none' } }));
    expect(none).toContain('there are no checks');
    const [, off] = await shown(queueView({ config: { ...config, enabled: false } }));
    expect(off).toContain('switched off');
    const [, waits] = await shown(
      queueView({ waiting: { reason: 'origin cannot be reached', changes: [], hint: null, since: null } }),
    );
    expect(waits).toBe('nothing moves: origin cannot be reached');
  });

  test('shows no queue, and several', async () => {
    expect(await shown()).toEqual([expect.stringContaining('no project has a merge queue yet')]);
    expect((await shown(queueView(), queueView())).filter((line) => line === '')).toHaveLength(1);
  });

  test('log shows the output of the latest check of main, or of another', async () => {
    const log = {
      check: checkView({ changes: [] }),
      output: [{ step: 'npm test', text: 'fine\u0007\n' }],
      leftOutBytes: 0,
    };
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, log), { json: false });
    expect(await logQueue(daemon.context, { check: 'check000', project: '/srv' })).toBe(0);
    expect(daemon.requests).toEqual(['GET /api/queues/log?path=%2Fsrv&check=check000']);
    expect(daemon.texts).toEqual(['fine\u{FFFD}\ncheck000  main  passed (2.0s, 12 tests)']);
  });

  test('pause and resume name the repository', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { queue: queueView() }), {
      json: false,
    });
    await turnQueue(daemon.context, 'pause', {});
    await turnQueue(daemon.context, 'resume', { project: '/srv' });
    expect(daemon.requests).toEqual(['POST /api/queues/pause', 'POST /api/queues/resume']);
    expect(daemon.bodies).toEqual([{ path: resolve('.') }, { path: '/srv' }]);
  });
});

describe('queue check --wait', () => {
  const main = 'b'.repeat(40);
  const old = checkView({ id: idOf(1), commit: main, changes: [] });
  const failed = (number: number) => checkView({ id: idOf(number), commit: main, changes: [], outcome: 'failed' });
  const passed = checkView({ id: idOf(9), commit: main, changes: [] });
  const running = [checkView({ id: idOf(2), commit: main, changes: [], outcome: 'running', endedAt: null })];

  test.each<[string, number, Partial<QueueView>[]]>([
    ['green', 0, [{ running }, { checks: [passed, old] }]],
    ['green at the second try', 0, [{ checks: [failed(2), old] }, { checks: [passed, failed(2), old] }]],
    ['red', 1, [{ checks: [failed(2), old] }, { checks: [failed(3), failed(2), old] }]],
    ['paused, so that nobody looks', 7, [{ pausedAt: 5 }]],
  ])('ends when it is %s with %d; earlier results do not count', async (_name, code, looks) => {
    let asked = 0;
    await using daemon = await fakeDaemon(
      ({ request, response }) => {
        const look = looks[Math.min(asked, looks.length - 1)] ?? {};
        const first = request.method === 'POST';
        if (!first) asked += 1;
        const queue = queueView({ checks: [old], ...(first ? {} : look) });
        sendJson(response, first ? { queue } : { queues: [queue] });
      },
      { json: false },
    );
    expect(await checkQueue(daemon.context, { wait: true }, 5)).toBe(code);
    expect(daemon.requests.slice(0, 2)).toEqual(['POST /api/queues/check', `GET /api/queues?project=${idOf(900)}`]);
  });

  test('without --wait it shows the state', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { queue: queueView({ running }) }), {
      json: false,
    });
    expect(await checkQueue(daemon.context, {})).toBe(0);
    expect(daemon.texts[0]).toMatch(/^shop {2}main bbbbbbbbbb is being checked$/m);
  });
});
