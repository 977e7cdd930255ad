import type { MailView } from '@pawl/protocol/mail/view';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ack, list, read, send } from '../../../src/command/mail/mail.ts';
import { wait } from '../../../src/command/mail/wait.ts';
import { idOf } from '@pawl/testing/agent-view';
import { fakeDaemon, sendFailure, sendJson } from '../fake-daemon.ts';

function aMail(given: Partial<MailView> = {}): MailView {
  return {
    id: idOf(5),
    kind: 'message',
    from: { id: idOf(1), alias: 'calm-fox' },
    to: { id: idOf(2), alias: 'old-owl' },
    status: 'pending',
    body: 'hello',
    bodyBytes: 5,
    cut: false,
    questionId: null,
    createdAt: 0,
    deliveredAt: null,
    readAt: null,
    ackedAt: null,
    channel: null,
    dead: null,
    detail: '',
    ...given,
  };
}

describe('send', () => {
  test('sends the text, and prints what is known [S1-25]', async () => {
    const mail = aMail({ detail: 'queued: old-owl was stopped; it is delivered when it resumes' });
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { mails: [mail] }), { json: false });
    expect(await send(daemon.context, ['old-owl', 'hello'], {})).toBe(0);
    expect(daemon.requests).toEqual(['POST /api/mail']);
    expect(daemon.bodies).toEqual([{ to: 'old-owl', body: 'hello' }]);
    expect(daemon.texts).toEqual([`sent to old-owl (${mail.id.slice(0, 6)}); ${mail.detail}`]);
  });

  test('--all names the repository, and counts [S4-17]', async () => {
    const mails = [aMail(), aMail({ to: { id: idOf(3), alias: 'shy-elk' } })];
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { mails }), { json: false });
    await send(daemon.context, ['all hands'], { all: true });
    await send(daemon.context, ['all hands'], { all: true, project: '/code/shop' });
    expect(daemon.bodies).toEqual([
      { all: true, path: resolve('.'), body: 'all hands' },
      { all: true, path: '/code/shop', body: 'all hands' },
    ]);
    expect(daemon.texts[0]).toBe('sent to 2 agents: old-owl, shy-elk');
  });

  test('prints nothing if it was not accepted; a lost response is requested again with the same key', async () => {
    await using refusing = await fakeDaemon(({ response }) => sendFailure(response, 'conflict', 'it is dead'));
    await expect(send(refusing.context, ['old-owl', 'x'], {})).rejects.toMatchObject({ code: 'conflict' });
    expect(refusing.printed).toEqual([]);
    const keys: unknown[] = [];
    await using losing = await fakeDaemon(({ request, response }) => {
      keys.push(request.headers['idempotency-key']);
      if (keys.length === 1) request.socket.destroy();
      else sendJson(response, { mails: [aMail()] });
    });
    expect(await send(losing.context, ['old-owl', 'x'], {})).toBe(0);
    expect(keys).toHaveLength(2);
    expect(keys[1]).toBe(keys[0]);
  });

  test.each([[[]], [['old-owl']], [['old-owl', 'two', 'words']]])('%j is no mail', async (words) => {
    await using daemon = await fakeDaemon(() => {});
    await expect(send(daemon.context, words, {})).rejects.toMatchObject({ code: 'usage' });
    await expect(send(daemon.context, ['a', 'b'], { all: true })).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('mail', () => {
  const listed = (mails: MailView[], next: string | null = null) => ({ mailbox: mails[0]?.to, mails, unread: 1, next });

  test('fetches the caller’s own, and lists another’s [S1-26]', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, listed([])), { json: false });
    await list(daemon.context, { from: 'calm-fox', unread: true, limit: 3 });
    await list(daemon.context, { agent: 'old-owl', unread: true });
    expect(daemon.requests).toEqual(['POST /api/mail/fetch', 'GET /api/mail?unread=true&agent=old-owl']);
    expect(daemon.bodies[0]).toEqual({ from: 'calm-fox', unread: true, limit: 3 });
    expect(daemon.texts[0]).toBe('no mail');
  });

  test('shows 60 columns of each, with its number, and no terminal escapes [W4-03, fault 35]', async () => {
    const long = `\u001B]52;c;eA==\u0007${'x'.repeat(100)}\nsecond line`;
    const mails = [aMail({ body: long }), aMail({ dead: { at: 1, reason: 'gone' } })];
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, listed(mails, `unread:${idOf(5)}`)), {
      json: false,
    });
    daemon.context.columns = 200;
    await list(daemon.context, {});
    const [text = ''] = daemon.texts;
    for (const character of ['\u001B', '\u0007']) expect(text).not.toContain(character);
    const [, first = '', second = ''] = text.split('\n');
    expect(first).toMatch(/^1 /);
    expect(/x+…$/.exec(first)?.[0].length).toBeLessThanOrEqual(60);
    expect(second).toContain('undeliverable');
    expect(text).toContain(`1 unread; all of one: pawl read 1; more: pawl mail --before unread:${idOf(5)}`);
  });
});

test('read shows a whole mail as plain text [S1-27]', async () => {
  const mail = aMail({ body: 'one\n\u001B[31mtwo\n', status: 'read', kind: 'question' });
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { mail }), { json: false });
  expect(await read(daemon.context, '1')).toBe(0);
  expect(daemon.requests).toEqual(['POST /api/mail/1/read']);
  expect(daemon.texts[0]).toBe(
    `calm-fox to old-owl at 1970-01-01T00:00:00.000Z\n${mail.id}: question, read\n\none\ntwo`,
  );
  await expect(read(daemon.context, '..')).rejects.toMatchObject({ code: 'not_found' });
});

test('ack: each separately, and the first failure gives the exit code', async () => {
  await using daemon = await fakeDaemon(({ url, response }) => {
    if (url.pathname.includes('bad')) sendFailure(response, 'forbidden');
    else sendJson(response, { mail: aMail({ status: 'acked' }) });
  });
  expect(await ack(daemon.context, ['bad1', 'good'])).toBe(8);
  expect(daemon.printed).toEqual([{ kind: 'mails', data: { mails: [aMail({ status: 'acked' })] } }]);
});

describe('wait [W1-23]', () => {
  test('prints the mail, and only then marks it read', async () => {
    const order: string[] = [];
    await using daemon = await fakeDaemon(
      ({ url, response }) => {
        order.push(url.pathname);
        if (url.pathname.endsWith('/wait')) sendJson(response, { done: true, mails: [aMail()], agents: [] });
        else sendJson(response, { mail: aMail({ status: 'read' }) });
      },
      { json: false },
    );
    const { answer } = daemon.context;
    daemon.context.answer = (kind, data, text) => {
      order.push('printed');
      answer(kind, data, text);
    };
    expect(await wait(daemon.context, 10, [])).toBe(0);
    expect(order).toEqual(['/api/mail/wait', 'printed', `/api/mail/${idOf(5)}/read`]);
  });

  test('names mail that the turn has already shown, and marks it read', async () => {
    await using daemon = await fakeDaemon(
      ({ url, response }) =>
        sendJson(
          response,
          url.pathname.endsWith('/wait')
            ? { done: true, mails: [], shown: [idOf(5)], agents: [] }
            : { mail: aMail({ status: 'read' }) },
        ),
      { json: false },
    );
    expect(await wait(daemon.context, 10, [])).toBe(0);
    expect(daemon.texts).toEqual([`in your turn already: ${idOf(5)}`]);
    expect(daemon.requests).toEqual(['POST /api/mail/wait', `POST /api/mail/${idOf(5)}/read`]);
  });

  test('continues until the timeout, then prints the partial result and exits with 5', async () => {
    const agents = [
      { id: idOf(1), alias: 'calm-fox', state: 'received', mailId: idOf(5) },
      { id: idOf(2), alias: 'old-owl', state: 'running', mailId: null },
    ];
    await using daemon = await fakeDaemon(
      ({ url, response }) =>
        sendJson(response, url.pathname.endsWith('/wait') ? { done: false, mails: [], agents } : { mail: aMail() }),
      { json: false },
    );
    expect(await wait(daemon.context, 0.05, ['calm-fox', 'old-owl'])).toBe(5);
    expect(daemon.bodies[0]).toEqual({ timeoutMs: 0, agents: ['calm-fox', 'old-owl'] });
    expect(daemon.texts[0]).toBe('calm-fox: received\nold-owl: running\n\ntime is up; 1 agent still at work');
  });

  test('0 asks once', async () => {
    await using daemon = await fakeDaemon(
      ({ response }) => sendJson(response, { done: false, mails: [], agents: [] }),
      {
        json: false,
      },
    );
    expect(await wait(daemon.context, 0, [])).toBe(5);
    expect(daemon.requests).toEqual(['POST /api/mail/wait']);
    expect(daemon.texts).toEqual(['no mail']);
  });

  test('a lost response is requested again', async () => {
    let asked = 0;
    await using daemon = await fakeDaemon(({ request, response }) => {
      asked += 1;
      if (asked === 2) request.socket.destroy();
      else sendJson(response, { done: asked > 2, mails: [], agents: [] });
    });
    expect(await wait(daemon.context, 20, [])).toBe(0);
    expect(asked).toBe(3);
  });
});
