import { describe, expect, test } from 'vitest';
import { logs } from '../../../src/command/agents/logs.ts';
import { fakeDaemon, sendJson, sendStream } from '../fake-daemon.ts';

const chunk = (id: number) => ({ id, sessionNo: 1, stream: 'stdout', offset: 0, at: 0, events: [] });
const ids = (printed: { data: unknown }[]) => printed.map(({ data }) => (data as { id: number }).id);

/** An agent with three chunks, in pages of two; each connection of its stream gives one more and then ends. */
function fakeAgent() {
  const all = [1, 2, 3].map(chunk);
  return fakeDaemon(({ request, response, url }) => {
    if (!url.pathname.endsWith('/output')) return sendJson(response, { agent: { id: 'the-id' } });
    const { after, tail } = Object.fromEntries(url.searchParams);
    const from = after === undefined ? (tail === undefined ? 0 : 3 - Number(tail)) : Number(after);
    const rest = all.filter(({ id }) => id > from);
    if (request.headers.accept !== 'text/event-stream') {
      return sendJson(response, { chunks: rest.slice(0, 2), more: rest.length > 2, ended: true });
    }
    const [next] = rest;
    sendStream(response, [next === undefined ? { event: 'ended', data: {} } : { event: 'chunk', data: next }]);
  });
}

describe('logs', () => {
  test('all pages are shown', async () => {
    await using daemon = await fakeAgent();
    expect(await logs(daemon.context, 'brave-otter', {})).toBe(0);
    expect(ids(daemon.printed)).toEqual([1, 2, 3]);
  });

  test('following continues after each loss where it was', async () => {
    await using daemon = await fakeAgent();
    expect(await logs(daemon.context, 'brave-otter', { follow: true, raw: true })).toBe(0);
    expect(ids(daemon.printed)).toEqual([1, 2, 3]);
    expect(daemon.requests).toEqual([
      'GET /api/agents/brave-otter/output?format=raw',
      'GET /api/agents/brave-otter/output?after=1&format=raw',
      'GET /api/agents/brave-otter/output?after=2&format=raw',
      'GET /api/agents/brave-otter/output?after=3&format=raw',
    ]);
  });

  test.each([
    [0, []],
    [1, [3]],
    [2, [2, 3]],
  ])('following with a tail of %i', async (tail, expected) => {
    await using daemon = await fakeAgent();
    await logs(daemon.context, 'brave-otter', { follow: true, tail });
    expect(ids(daemon.printed)).toEqual(expected);
  });
});
