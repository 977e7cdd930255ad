import { describe, expect, test } from 'vitest';
import { events } from '../../../src/command/home/events.ts';
import { fakeDaemon, sendJson, sendStream } from '../fake-daemon.ts';

const event = (seq: number) => ({ seq, at: 0, type: 'run.started', projectId: null, agentId: null, data: {} });

/** A log of so many events in pages of two; its stream gives what follows and then refuses, which ends a follower. */
function fakeLog(last: number) {
  let streams = 0;
  return fakeDaemon(({ request, response, url }) => {
    const all = Array.from({ length: last }, (_, index) => event(index + 1));
    if (request.headers.accept === 'text/event-stream') {
      streams += 1;
      if (streams > 1) return void response.writeHead(403).end('{"error":{"code":"forbidden","message":"enough"}}');
      const seen = Number(request.headers['last-event-id']);
      return sendStream(
        response,
        [...all, event(last + 1)].filter(({ seq }) => seq > seen).map((data) => ({ data })),
      );
    }
    const { after, tail } = Object.fromEntries(url.searchParams);
    const from = after === undefined ? last - Number(tail) : Number(after);
    sendJson(response, { events: all.filter(({ seq }) => seq > from).slice(0, 2), lastSeq: last });
  });
}

const seqs = (printed: { data: unknown }[]) => printed.map(({ data }) => (data as { seq: number }).seq);

describe('stored events', () => {
  test('all pages are shown', async () => {
    await using daemon = await fakeLog(5);
    expect(await events(daemon.context, { after: 0 })).toBe(0);
    expect(seqs(daemon.printed)).toEqual([1, 2, 3, 4, 5]);
  });

  test('only the tail is shown', async () => {
    await using daemon = await fakeLog(5);
    await events(daemon.context, { tail: 2 });
    expect(seqs(daemon.printed)).toEqual([4, 5]);
    expect(daemon.requests).toEqual(['GET /api/events?tail=2']);
  });
});

describe('following', () => {
  const enough = expect.objectContaining({ message: 'enough' });

  test.each([
    ['a tail', { tail: 2 }, [4, 5, 6]],
    ['no tail at all', { tail: 0 }, [6]],
    ['a place', { after: 3 }, [4, 5, 6]],
    ['the place that is the last', { after: 5 }, [6]],
  ])('it continues after %s, without a repetition', async (_name, options, expected) => {
    await using daemon = await fakeLog(5);
    await expect(events(daemon.context, { ...options, follow: true })).rejects.toEqual(enough);
    expect(seqs(daemon.printed)).toEqual(expected);
  });

  test('a gap is skipped', async () => {
    const seen: string[] = [];
    await using daemon = await fakeDaemon(({ request, response }) => {
      if (request.headers.accept !== 'text/event-stream') return sendJson(response, { events: [], lastSeq: 90 });
      seen.push(String(request.headers['last-event-id']));
      if (seen.length === 1) return sendStream(response, [{ event: 'gap', data: { lastSeq: 7 } }]);
      response.writeHead(403).end('{"error":{"code":"forbidden","message":"enough"}}');
    });
    await expect(events(daemon.context, { after: 90, follow: true })).rejects.toEqual(enough);
    expect(seen).toEqual(['90', '7']);
  });
});
