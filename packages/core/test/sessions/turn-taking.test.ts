import { createLimiter, createLanes, createSlots, createSerial } from '@pawl/core/sessions/turn-taking';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

test('serial jobs run one at a time, in order, and continue after a failure', async () => {
  const serially = createSerial();
  const seen: string[] = [];
  let inside = 0;
  const job = (name: string) => async () => {
    expect((inside += 1)).toBe(1);
    await Promise.resolve();
    seen.push(name);
    inside -= 1;
    if (name === 'b') throw new Error('b failed');
  };
  const results = await Promise.allSettled(['a', 'b', 'c'].map((name) => serially(job(name))));
  expect(seen).toEqual(['a', 'b', 'c']);
  expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('a gate admits a fixed number', async () => {
  const enter = createLimiter(2);
  let inside = 0;
  let most = 0;
  const job = async () => {
    most = Math.max(most, (inside += 1));
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
    inside -= 1;
  };
  const failing = enter(() => Promise.reject(new Error('x')));
  await Promise.allSettled([...Array.from({ length: 9 }, () => enter(job)), failing]);
  await enter(job);
  expect(most).toBe(2);
});

test('lanes: other keys do not wait, too many jobs are refused, and drain waits for all', async () => {
  const lanes = createLanes(2);
  const { promise: held, resolve: open } = Promise.withResolvers<void>();
  const first = lanes.run('k', async () => held);
  const second = lanes.run('k', async () => 'second');
  await expect(lanes.run('k', async () => 'third')).rejects.toMatchObject({ code: 'unavailable' });
  expect(await lanes.run('other', async () => 'other')).toBe('other');
  let drained = false;
  const draining = lanes.drain().then(() => (drained = true));
  await Promise.resolve();
  expect(drained).toBe(false);
  open();
  await first;
  expect(await second).toBe('second');
  await draining;
  expect(await lanes.run('k', async () => 'again')).toBe('again');
});

describe('slots are limited, with a queue [7.2]', () => {
  test('a fixed number get one; asking again changes nothing', () => {
    const slots = createSlots(2);
    expect(['a', 'b', 'c', 'a', 'c', 'd', 'b'].map((id) => slots.take(id))).toEqual([
      true,
      true,
      false,
      true,
      false,
      false,
      true,
    ]);
    expect(['a', 'b', 'c', 'd', 'e'].filter((id) => slots.isWaiting(id))).toEqual(['c', 'd']);
  });

  test('a freed place goes to the first in the queue; no overtaking', () => {
    const slots = createSlots(1);
    for (const id of ['a', 'b', 'c']) slots.take(id);
    expect(slots.next()).toBeNull();
    slots.free('a');
    expect(slots.next()).toBe('b');
    // Neither the second in the queue nor a newcomer nor the one that just left is faster.
    expect(['c', 'd', 'a'].map((id) => slots.take(id))).toEqual([false, false, false]);
    expect(slots.next()).toBe('b');
    expect(slots.take('b')).toBe(true);
    expect(slots.isWaiting('b')).toBe(false);
    expect(slots.next()).toBeNull();
    const order = ['b', 'c', 'd'].map((id) => {
      slots.free(id);
      const next = slots.next() ?? '';
      expect(slots.take(next)).toBe(true);
      return next;
    });
    expect(order).toEqual(['c', 'd', 'a']);
  });

  test('leaving the queue lets the next one move up', () => {
    const slots = createSlots(1);
    for (const id of ['a', 'b', 'c']) slots.take(id);
    slots.free('b');
    expect(slots.isWaiting('b')).toBe(false);
    slots.free('a');
    expect(slots.next()).toBe('c');
    slots.free('c');
    expect(slots.next()).toBeNull();
    expect(slots.take('d')).toBe(true);
  });

  test('one that has already started keeps a place over the limit, and others wait until there is room', () => {
    const slots = createSlots(1);
    slots.take('a');
    slots.take('b');
    slots.keep('b');
    slots.keep('c');
    expect(slots.isWaiting('b')).toBe(false);
    expect(['a', 'b', 'c', 'd'].map((id) => slots.take(id))).toEqual([true, true, true, false]);
    for (const id of ['a', 'b']) {
      slots.free(id);
      expect(slots.next()).toBeNull();
    }
    slots.free('c');
    expect(slots.next()).toBe('d');
  });

  test('freeing a place that one does not have changes nothing', () => {
    const slots = createSlots(1);
    slots.take('a');
    slots.free('x');
    slots.free('x');
    expect(slots.take('b')).toBe(false);
    slots.free('a');
    slots.free('a');
    expect([slots.take('b'), slots.take('c')]).toEqual([true, false]);
  });

  test('limit and order hold for any sequence, as in a simple model', () => {
    const id = fc.integer({ min: 0, max: 7 }).map((number) => `agent-${number}`);
    const act = fc.record({ do: fc.constantFrom('take', 'take', 'free'), id });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(act, { maxLength: 80 }), (most, acts) => {
        const slots = createSlots(most);
        let inside: string[] = [];
        let queue: string[] = [];
        for (const { do: what, id: who } of acts) {
          if (what === 'free') {
            slots.free(who);
            inside = inside.filter((each) => each !== who);
            queue = queue.filter((each) => each !== who);
          } else {
            const given = slots.take(who);
            if (!inside.includes(who) && !queue.includes(who)) queue.push(who);
            const turn = queue[0] === who && inside.length < most;
            expect(given).toBe(inside.includes(who) || turn);
            if (turn) inside.push(queue.shift() ?? '');
          }
          expect(inside.length).toBeLessThanOrEqual(most);
          expect(slots.next()).toBe(inside.length < most ? (queue[0] ?? null) : null);
          for (let number = 0; number <= 7; number++) {
            expect(slots.isWaiting(`agent-${number}`)).toBe(queue.includes(`agent-${number}`));
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  test('if each freed place is offered on, everybody gets one in order', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 30 }), (most, count) => {
        const slots = createSlots(most);
        const came = Array.from({ length: count }, (_, number) => `agent-${number}`);
        const served = came.filter((each) => slots.take(each));
        for (let at = 0; at < served.length; at++) {
          slots.free(served[at] ?? '');
          for (let next = slots.next(); next !== null; next = slots.next()) {
            expect(slots.take(next)).toBe(true);
            served.push(next);
          }
        }
        expect(served).toEqual(came);
      }),
    );
  });
});
