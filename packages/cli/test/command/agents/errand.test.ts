import { limits } from '@pawl/schema/limit';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  abandonErrand,
  diffErrand,
  listErrands,
  mergeErrand,
  sendErrand,
  startErrand,
} from '../../../src/command/agents/errand.ts';
import { agentView, idOf } from '@pawl/testing/agent-view';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

const agent = agentView({ alias: 'brave-otter', branch: 'work/brave-otter' });

describe('errand start', () => {
  test('starts an agent in the mode of an errand', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { agent }), { json: false });
    expect(await startErrand(daemon.context, ['fix', 'the', 'typo'], { provider: 'scripted', name: 'otter' })).toBe(0);
    expect(daemon.requests).toEqual(['POST /api/agents']);
    expect(daemon.bodies).toMatchObject([
      { path: resolve('.'), task: 'fix the typo', mode: 'errand', provider: 'scripted', alias: 'otter' },
    ]);
    expect(daemon.texts[0]).toMatch(/^brave-otter is on its errand\n.*pawl errand diff brave-otter/);
  });

  test('refuses a description of more than 200 characters before any request [W3-03]', async () => {
    await using daemon = await fakeDaemon(() => {});
    const long = 'x'.repeat(limits.errandCharacters + 1);
    await expect(startErrand(daemon.context, [long], {})).rejects.toMatchObject({ code: 'usage' });
    expect(limits.errandCharacters).toBe(200);
    expect(daemon.requests).toEqual([]);
  });
});

test('errand ls shows how each ended', async () => {
  const errands = [
    { ...agent, description: 'fix the typo' },
    {
      ...agentView({ id: idOf(2), alias: 'calm-fox', endedAt: 5, status: 'dead', detail: 'merged' }),
      description: 'old',
    },
  ];
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { errands }), { json: false });
  await listErrands({ ...daemon.context, columns: 140 }, { all: true });
  expect(daemon.requests).toEqual(['GET /api/errands?all=true']);
  expect(daemon.texts[0]).toMatch(/^brave-otter +idle +shop/m);
  expect(daemon.texts[0]).toMatch(/^calm-fox +merged +shop.*old$/m);
});

test('errand send reports how it was delivered, and refuses an empty message', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { agent, channel: 'live' }), {
    json: false,
  });
  await sendErrand(daemon.context, 'brave-otter', 'in the docs, too');
  expect(daemon.requests).toEqual(['POST /api/errands/brave-otter/send']);
  expect(daemon.bodies).toEqual([{ message: 'in the docs, too' }]);
  expect(daemon.texts).toEqual(['brave-otter got the message in its running turn']);
  await expect(sendErrand(daemon.context, 'brave-otter', ' ')).rejects.toMatchObject({ code: 'usage' });
});

describe('errand diff', () => {
  const diff = {
    agentId: idOf(1),
    branch: 'work/brave-otter',
    base: 'c0ffee',
    files: [
      { path: 'a.txt', from: null, added: 2, removed: 1 },
      { path: 'new.txt', from: 'old.txt', added: 0, removed: 0 },
      { path: 'i.png', from: null, added: null, removed: null },
    ],
    patch: '+evil\u001b]52;c;eA==\u0007\u202e\n',
    truncated: false,
  };

  test('shows the patch as text, whatever is in it', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, diff), { json: false });
    await diffErrand(daemon.context, 'brave-otter', {});
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(daemon.texts[0]).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(daemon.texts[0]).toContain('+evil');
  });

  test('--stat shows the files; says what was cut, and that there is nothing', async () => {
    let answer: unknown = { ...diff, truncated: true };
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, answer), { json: false });
    await diffErrand(daemon.context, 'brave-otter', { stat: true });
    expect(daemon.texts[0]).toBe(
      'a.txt  +2 -1\nold.txt → new.txt  +0 -0\ni.png  binary\n3 files\n(the rest is left out; look at it with git)',
    );
    answer = { ...diff, files: [], patch: '' };
    await diffErrand(daemon.context, 'brave-otter', {});
    expect(daemon.texts[1]).toBe('nothing changed on work/brave-otter');
  });
});

test('errand merge is repeated after a lost response, since it is idempotent', async () => {
  let asked = 0;
  const merged = { agent, branch: 'work/brave-otter', into: 'main', commit: 'c'.repeat(40), already: true };
  await using daemon = await fakeDaemon(
    ({ request, response }) => {
      asked += 1;
      if (asked === 1) request.socket.destroy();
      else sendJson(response, merged);
    },
    { json: false },
  );
  expect(await mergeErrand(daemon.context, 'brave-otter', { into: 'main', commit: true })).toBe(0);
  expect(daemon.bodies).toEqual([
    { into: 'main', commit: true },
    { into: 'main', commit: true },
  ]);
  expect(daemon.texts).toEqual(['work/brave-otter was merged already into main (cccccccccc)']);
});

test('errand abandon says what stays', async () => {
  const dead = { ...agent, worktreeEnd: { state: 'trashed', entry: 'x', at: 1 } };
  await using daemon = await fakeDaemon(
    ({ response }) => sendJson(response, { agent: dead, branch: 'work/brave-otter' }),
    {
      json: false,
    },
  );
  await abandonErrand(daemon.context, 'brave-otter');
  expect(daemon.texts).toEqual([
    'brave-otter is abandoned; its worktree is in the trash, its branch work/brave-otter stays',
  ]);
});
