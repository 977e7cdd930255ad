import { width } from '@pawl/present/text';
import { idOf } from '@pawl/testing/agent-view';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { describe, expect, test } from 'vitest';
import { diffChange, listChanges, logChange, openChange, showChange } from '../../../src/command/changes/change.ts';
import { changeView, checkView } from '../../change-view.ts';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

const change = changeView();
const opened = { change, created: true, moved: false };
const agentsOwn = { PAWL_AGENT_ID: idOf(1), PAWL_AGENT_TOKEN: 'x' };

describe('change open', () => {
  test('an agent without a branch argument means its own, and sees the result [S4-09]', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, opened), { json: false });
    const options = { title: 'comments', summary: 'why', draft: true };
    expect(await openChange(daemon.context, undefined, options, agentsOwn)).toBe(0);
    expect(daemon.requests).toEqual(['POST /api/changes']);
    expect(daemon.bodies).toEqual([{ title: 'comments', summary: 'why', draft: true }]);
    expect(daemon.texts[0]).toMatch(/^opened: the parser takes comments \(change00\) is queued\n.*pawl queue$/);
  });

  test('a person means the branch that is checked out here', async () => {
    await using repository = await temporaryDirectory('pawl-cli');
    await sampleRepository(repository.path);
    await using daemon = await fakeDaemon(
      ({ response }) => sendJson(response, { ...opened, created: false, moved: true }),
      {
        json: false,
      },
    );
    await git(repository.path, ['checkout', '-qb', 'feature/x']);
    await openChange(daemon.context, undefined, { project: repository.path }, {});
    // A helper has an id that no registry knows: it is a person's session.
    await openChange(daemon.context, 'other', { project: repository.path }, { PAWL_AGENT_ID: 'helper-1' });
    expect(daemon.bodies).toEqual([
      { path: repository.path, branch: 'feature/x' },
      { path: repository.path, branch: 'other' },
    ]);
    expect(daemon.texts[0]).toMatch(/^moved on: /);
  });

  test('without a branch there, no request is sent', async () => {
    await using repository = await temporaryDirectory('pawl-cli');
    await sampleRepository(repository.path);
    await using daemon = await fakeDaemon(() => {});
    await git(repository.path, ['checkout', '-q', '--detach']);
    const here = { project: repository.path };
    await expect(openChange(daemon.context, undefined, here, {})).rejects.toMatchObject({ code: 'usage' });
    await expect(openChange(daemon.context, undefined, { project: '/' }, {})).rejects.toMatchObject({
      code: 'not_a_repository',
    });
    expect(daemon.requests).toEqual([]);
  });

  test('is repeated after a lost response, since the same head twice is one change', async () => {
    let asked = 0;
    await using daemon = await fakeDaemon(
      ({ request, response }) => {
        asked += 1;
        if (asked === 1) request.socket.destroy();
        else sendJson(response, { ...opened, created: false });
      },
      { json: false },
    );
    expect(await openChange(daemon.context, undefined, {}, agentsOwn)).toBe(0);
    expect(daemon.texts[0]).toMatch(/^there already: /);
  });
});

describe('change ls', () => {
  test('fits 80 columns, shows hostile titles as text, and marks what waits for a person', async () => {
    const changes = [
      changeView({ state: 'needs-human-input', needsPerson: true, title: `evil\u001b[2J\n${'x'.repeat(200)}` }),
      changeView({ id: idOf(2), state: 'merged', author: null, title: 'another' }),
    ];
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { changes, more: true }), {
      json: false,
    });
    expect(await listChanges(daemon.context, { all: true, project: '/srv/shop' })).toBe(0);
    expect(daemon.requests).toEqual(['GET /api/changes?path=%2Fsrv%2Fshop&all=true']);
    const lines = daemon.texts[0]?.split('\n') ?? [];
    for (const line of lines) expect(width(line)).toBeLessThanOrEqual(80);
    expect(lines[0]).toMatch(/^ID +STATE +AUTHOR +AGE +CHANGE$/);
    expect(lines[1]).toMatch(/^change00 +needs-human-input +brave-otter +\S+ +evil x+…$/);
    expect(lines[2]).toMatch(/^agent000 +merged +a person +\S+ +another$/);
    expect(lines.slice(3)).toEqual([
      '1 change waiting for you: pawl inbox',
      '(older ones are left out; -C shows one project)',
    ]);
  });

  test('names projects only if there are several', async () => {
    const changes = [changeView(), changeView({ project: { id: idOf(901), name: 'bank' } })];
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { changes, more: false }), {
      json: false,
    });
    await listChanges(daemon.context, {});
    expect(daemon.texts[0]).toMatch(/PROJECT.*\n.* shop .*\n.* bank /);
  });

  test('without any', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { changes: [], more: false }), {
      json: false,
    });
    await listChanges(daemon.context, {});
    expect(daemon.texts).toEqual(['no changes; propose the branch you are on: pawl change open']);
  });
});

test('change show explains its state, comments, and what to do', async () => {
  const head = 'a'.repeat(40);
  const ejection = { kind: 'red' as const, reason: 'the checks fail', files: [], checkId: null, head, at: 5 };
  const detail = {
    change: changeView({
      state: 'ejected',
      detail: 'the checks fail\u0007',
      ejection,
      returns: 1,
      summary: 'one\ntwo',
    }),
    comments: [
      {
        id: `comment${'0'.repeat(14)}1`,
        changeId: change.id,
        agentId: null,
        author: null,
        kind: 'blocking',
        body: '[BLOCKING] a.ts:1: wrong\nreally',
        head,
        at: 0,
        addressedAt: null,
        addressed: null,
      },
    ],
    checks: [checkView({ outcome: 'failed', detail: 'exit code 1' })],
    learnings: null,
  };
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, detail), { json: false });
  expect(await showChange(daemon.context, 'work/brave-otter', {})).toBe(0);
  expect(daemon.requests).toEqual(['GET /api/changes/work%2Fbrave-otter']);
  const [text = ''] = daemon.texts;
  expect(text).toMatch(/^the parser takes comments\nstate +ejected: the checks fail\u{FFFD}$/mu);
  expect(text).toMatch(/^branch +work\/brave-otter at aaaaaaaaaa$/m);
  expect(text).toMatch(/^went back +1 time$/m);
  expect(text).toContain('\n  one\n  two\n');
  expect(text).toMatch(
    /^comment0 {2}a person, blocking, .* ago, at aaaaaaaaaa\n {2}\[BLOCKING\] a\.ts:1: wrong\n {2}really$/m,
  );
  expect(text).toContain('  check000  main + 1 change  failed: exit code 1 (2.0s, 12 tests)');
  expect(text.split('\n').at(-1)).toBe('see why: pawl change log change00; mend it, and: pawl change open');
  expect(daemon.printed).toEqual([{ kind: 'change', data: detail }]);
});

test('change diff shows the patch as text, or the files', async () => {
  const file = { path: 'a.txt', from: null, added: 2, removed: 1 };
  let diff = {
    changeId: change.id,
    branch: 'x',
    from: 'b',
    to: 'a',
    files: [file],
    patch: '+evil\u001b]52;c;eA==\u0007\n',
    truncated: true,
  };
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, diff), { json: false });
  await diffChange(daemon.context, 'brave-otter', {});
  await diffChange(daemon.context, 'brave-otter', { stat: true });
  diff = { ...diff, files: [], truncated: false };
  await diffChange(daemon.context, 'brave-otter', {});
  // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
  expect(daemon.texts[0]).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/);
  expect(daemon.texts[1]).toBe('a.txt  +2 -1\n1 file\n(the rest is left out; look at it with git)');
  expect(daemon.texts[2]).toBe('x brings nothing');
});

test('change log shows each step’s output, what is missing, and how it ended', async () => {
  const check = checkView({ outcome: 'failed', detail: 'exit code 1', steps: ['lint', 'npm test'] });
  const output = [
    { step: 'lint', text: 'fine\n' },
    { step: 'npm test', text: '1 failed\u001b[31m\n' },
  ];
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { check, output, leftOutBytes: 7 }), {
    json: false,
  });
  expect(await logChange(daemon.context, 'brave-otter', { check: 'check0000' })).toBe(0);
  expect(daemon.requests).toEqual(['GET /api/changes/brave-otter/log?check=check0000']);
  expect(daemon.texts[0]?.split('\n')).toEqual([
    '(7 bytes before this are left out)',
    '$ lint',
    'fine',
    '$ npm test',
    '1 failed',
    'check000  main + 1 change  failed: exit code 1 (2.0s, 12 tests)',
  ]);
});
