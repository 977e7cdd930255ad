import type { ChangeView } from '@pawl/protocol/changes/view';
import { describe, expect, test } from 'vitest';
import {
  approveChange,
  blockChange,
  closeChange,
  commentChange,
  fixChange,
  mergeChange,
  retryChange,
  unblockChange,
} from '../../../src/command/changes/change-verb.ts';
import { changeView } from '../../change-view.ts';
import { fakeDaemon, sendFailure, sendJson } from '../fake-daemon.ts';

const note = 'merges into main when its checks pass, and pushes main to origin (git@example.com:shop)';

describe('verbs of a change', () => {
  test('send their options', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { change: changeView() }), {
      json: false,
    });
    const { context } = daemon;
    expect(await approveChange(context, 'work/x', { head: 'aaaa' })).toBe(0);
    expect(await blockChange(context, 'x', { reason: 'not yet' })).toBe(0);
    expect(await unblockChange(context, 'x', { project: '/srv' })).toBe(0);
    expect(await retryChange(context, 'x', {})).toBe(0);
    expect(await mergeChange(context, 'x', { fix: true })).toBe(0);
    expect(daemon.requests).toEqual([
      'POST /api/changes/work%2Fx/approve',
      'POST /api/changes/x/block',
      'POST /api/changes/x/unblock?path=%2Fsrv',
      'POST /api/changes/x/retry',
      'POST /api/changes/x/merge',
    ]);
    expect(daemon.bodies).toEqual([{ head: 'aaaa' }, { reason: 'not yet' }, {}, {}, { fix: true }]);
    expect(daemon.texts[0]).toBe('the parser takes comments (change00) is queued');
  });

  test('fix prints the directory, the conflicting files and the next commands, and --continue completes it', async () => {
    const fix = {
      outcome: 'begun',
      path: '/home/w',
      branch: 'work/x',
      onto: 'b'.repeat(40),
      files: ['a\u001B[2J.txt'],
    };
    const answer = { change: changeView(), ...fix, next: ['cd /home/w', 'pawl change fix change00 --continue'] };
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json: false });
    expect(await fixChange(daemon.context, 'x', {})).toBe(0);
    expect(await fixChange(daemon.context, 'x', { continue: true })).toBe(0);
    expect(daemon.requests).toEqual(['POST /api/changes/x/fix', 'POST /api/changes/x/fix']);
    expect(daemon.bodies).toEqual([{}, { proceed: true }]);
    expect(daemon.texts[0]?.split('\n')).toEqual([
      'the merge of bbbbbbbbbb into work/x is begun in /home/w',
      'in conflict:',
      '  a.txt',
      'next:',
      '  cd /home/w',
      '  pawl change fix change00 --continue',
    ]);
  });

  test('if a person has to act, the exit code is 7, and the next step is shown [S4-07]', async () => {
    const findings = [{ kind: 'fewer-tests', detail: 'fewer tests run: 8 before, 4 now' }] as const;
    const change = changeView({
      state: 'needs-human-input',
      detail: findings[0].detail,
      needsPerson: true,
      findings: [...findings],
    });
    const answer = { change, note, warning: 'local main has 1 commit' };
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json: false });
    expect(await mergeChange(daemon.context, 'x', {})).toBe(7);
    expect(daemon.said).toEqual([answer.warning]);
    expect(daemon.texts[0]?.split('\n')).toEqual([
      'the parser takes comments (change00) is needs-human-input: fewer tests run: 8 before, 4 now',
      'look at it: pawl change diff change00; then: pawl change approve change00, or pawl change close change00 --reason "…"',
      note,
    ]);
  });

  test('a change returned too often is retried or closed, and a person’s approval replaces a failed review', async () => {
    const head = changeView().head;
    const ejection = { kind: 'red' as const, reason: 'red', files: [], checkId: null, head, at: 1 };
    const answers = [ejection, null].map((each) =>
      changeView({ state: 'needs-human-input', needsPerson: true, ejection: each }),
    );
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { change: answers.shift(), note }), {
      json: false,
    });
    for (const verb of ['retry', 'approve']) {
      await mergeChange(daemon.context, 'x', {});
      expect(daemon.texts.at(-1)).toContain(`then: pawl change ${verb} change00, or pawl change close`);
    }
  });

  test('an empty text is refused before any request', async () => {
    await using daemon = await fakeDaemon(() => {});
    const usage = { code: 'usage' };
    await expect(blockChange(daemon.context, 'x', { reason: ' ' })).rejects.toMatchObject(usage);
    await expect(commentChange(daemon.context, 'x', '', {})).rejects.toMatchObject(usage);
    await expect(closeChange(daemon.context, 'x', { reason: 'y', learnings: ' ' })).rejects.toMatchObject(usage);
    expect(daemon.requests).toEqual([]);
  });

  test('a comment says whether it blocks, and which one it addresses [S4-14]', async () => {
    const comment = { id: `comment${'0'.repeat(15)}`, kind: 'blocking' };
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { change: changeView(), comment }), {
      json: false,
    });
    await commentChange(daemon.context, 'x', '[BLOCKING] no', { addresses: 'abcdefghijk' });
    expect(daemon.bodies).toEqual([{ body: '[BLOCKING] no', addresses: 'abcdefghijk' }]);
    expect(daemon.texts[0]).toMatch(
      /^commented; it blocks until it is addressed, and abcdefgh is addressed \(comment0\)\n/,
    );
  });

  test('a comment is not sent twice if the response is lost', async () => {
    await using daemon = await fakeDaemon(({ request }) => request.socket.destroy());
    await expect(commentChange(daemon.context, 'x', 'y', {})).rejects.toMatchObject({ code: 'daemon_unreachable' });
    expect(daemon.requests).toHaveLength(1);
  });

  test('a change is closed with its learnings, and their path is shown [S4-07]', async () => {
    const change = changeView({ state: 'closed', detail: 'too slow', closedAt: 1 });
    await using daemon = await fakeDaemon(
      ({ response }) => sendJson(response, { change, learnings: '/h/l\u0007.md' }),
      {
        json: false,
      },
    );
    expect(await closeChange(daemon.context, 'x', { reason: 'too slow', learnings: 'an index' })).toBe(0);
    expect(daemon.bodies).toEqual([{ reason: 'too slow', learnings: 'an index' }]);
    expect(daemon.texts[0]).toContain('is closed: too slow\nlearnings are kept: /h/l\u{FFFD}.md');
  });
});

/** A daemon whose change is in one state after the other, each time it is looked at. */
function daemonOf(states: Partial<ChangeView>[]) {
  let looks = 0;
  return fakeDaemon(
    ({ response }) => {
      const state = states[Math.min(looks, states.length - 1)] ?? {};
      looks += 1;
      // The second look is lost: the daemon restarts.
      if (looks === 2) return response.socket?.destroy();
      sendJson(response, { change: changeView(state), note, comments: [], checks: [], learnings: null });
    },
    { json: false },
  );
}

describe('change merge --wait', () => {
  const queued = { state: 'queued' } as const;
  const hold = { reason: 'later', by: 'a person', at: 1 };

  test.each([
    ['merged', 0, { state: 'merged', detail: 'as abc' }],
    ['ejected', 1, { state: 'ejected', detail: 'the checks fail' }],
    ['closed', 1, { state: 'closed' }],
    ['a person’s to settle', 7, { state: 'needs-human-input', needsPerson: true }],
    ['held', 7, { state: 'blocked', hold, blocking: 1 }],
    ['without checks', 7, { state: 'blocked' }],
    ['ready, and a person’s to merge', 7, { state: 'ready', needsPerson: true }],
    ['blocked, and a person’s own', 7, { state: 'blocked', blocking: 1, author: null }],
  ] as const)('ends when it is %s with %d, despite a lost daemon', async (_name, code, end) => {
    await using daemon = await daemonOf([queued, queued, { state: 'testing', detail: 'checks are running' }, end]);
    expect(await mergeChange(daemon.context, 'x', { wait: true }, 5)).toBe(code);
    expect(daemon.said).toEqual([note, 'queued', 'testing: checks are running']);
    expect(daemon.texts).toHaveLength(1);
    expect(daemon.texts[0]).toContain(`is ${end.state}`);
  });

  test.each([
    [[{ state: 'pending' }, { state: 'followed' }], null],
    [[{ state: 'followed' }], null],
    [[{ state: 'pending' }, { state: 'behind', reason: 'a.txt is not committed' }], 'a.txt is not committed'],
  ])('after a merge it waits until local main has followed, or cannot: case %#', async (states, reason) => {
    const locals = states.map((each) => ({ branch: 'main', reason: null, ...each }));
    const expected = locals.length;
    const change = changeView({ state: 'merged', detail: 'as abc' });
    await using daemon = await fakeDaemon(
      ({ request, response }) => {
        const local = request.method === 'GET' ? locals.shift() : null;
        sendJson(response, { change, note, warning: null, local });
      },
      { json: false },
    );
    expect(await mergeChange(daemon.context, 'x', { wait: true }, 5)).toBe(0);
    expect(daemon.requests.filter((each) => each.startsWith('GET'))).toHaveLength(expected);
    const lines = daemon.texts[0]?.split('\n') ?? [];
    expect(lines.slice(1)).toEqual(reason === null ? [] : [`local main stays behind: ${reason}`]);
  });

  test('says once that the daemon is down, and continues when it is up again', async () => {
    let looks = 0;
    await using daemon = await fakeDaemon(
      ({ request, response }) => {
        if (request.method === 'GET' && ++looks <= 20) return void request.socket.destroy();
        sendJson(response, { change: changeView(looks === 0 ? queued : { state: 'merged' }), note });
      },
      { json: false },
    );
    expect(await mergeChange(daemon.context, 'x', { wait: true }, 5)).toBe(0);
    expect(daemon.said.filter((text) => text.includes('the daemon is down'))).toHaveLength(1);
  });

  test('waits for an author that addresses a comment, and exits with 5 after the timeout', async () => {
    await using daemon = await daemonOf([{ state: 'blocked', blocking: 1, detail: 'one comment blocks it' }]);
    expect(await mergeChange(daemon.context, 'x', { wait: true, timeout: 100 }, 5)).toBe(5);
    expect(daemon.said).toEqual([note, 'blocked: one comment blocks it']);
  });

  test('a refusal ends it', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendFailure(response, 'conflict', 'it is merged'));
    await expect(mergeChange(daemon.context, 'x', { wait: true })).rejects.toMatchObject({ code: 'conflict' });
  });
});
