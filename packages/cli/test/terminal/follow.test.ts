import { PawlError } from '@pawl/schema/error';
import { expect, test } from 'vitest';
import { follow, reconnects } from '../../src/terminal/follow.ts';

const lost = () => new PawlError('daemon_unreachable', 'gone');

/** A log of numbers that is read from a place on; each connection ends, or is lost, as its turn in the plan says. */
function fakeLog(numbers: number[], plan: { give: number; end: 'close' | 'lose' | 'refuse' }[]) {
  const seen: number[] = [];
  let after = 0;
  let connections = 0;
  let pauses = 0;
  const following = follow(
    async () => {
      const { give, end } = plan[connections++] ?? { give: 0, end: 'close' };
      if (end === 'refuse') throw lost();
      return (async function* () {
        yield* numbers.filter((number) => number > after).slice(0, give);
        if (end === 'lose') throw lost();
      })();
    },
    (number) => {
      seen.push(number);
      after = number;
      return number === numbers.at(-1) ? 'ended' : 'more';
    },
    async () => void (pauses += 1),
  );
  return following.then(
    () => ({ seen, connections, pauses, error: null }),
    (error: unknown) => ({ seen, connections, pauses, error }),
  );
}

test('one stream to its end', async () => {
  const result = await fakeLog([1, 2, 3], [{ give: 9, end: 'close' }]);
  expect(result).toEqual({ seen: [1, 2, 3], connections: 1, pauses: 0, error: null });
});

test('nothing is missed or repeated despite losses, refusals and closed streams', async () => {
  const result = await fakeLog(
    [1, 2, 3, 4],
    [
      { give: 1, end: 'lose' },
      { give: 0, end: 'refuse' },
      { give: 2, end: 'close' },
      { give: 9, end: 'close' },
    ],
  );
  expect(result).toEqual({ seen: [1, 2, 3, 4], connections: 4, pauses: 3, error: null });
});

test.each(['refuse', 'lose', 'close'] as const)('it gives up after so many in a row: %s', async (end) => {
  const result = await fakeLog(
    [1],
    Array.from({ length: reconnects + 5 }, () => ({ give: 0, end })),
  );
  expect(result).toMatchObject({ seen: [], connections: reconnects + 1, pauses: reconnects });
  expect(result.error).toMatchObject({ code: 'daemon_unreachable' });
});

test('a message resets the count', async () => {
  const numbers = Array.from({ length: reconnects * 3 }, (_, index) => index + 1);
  const result = await fakeLog(
    numbers,
    numbers.map(() => ({ give: 1, end: 'lose' as const })),
  );
  expect(result).toMatchObject({ seen: numbers, error: null });
});

test.each([new PawlError('agent_not_found', 'x'), new Error('bug')])(
  'another failure is not retried: %s',
  async (error) => {
    let connections = 0;
    const open = async () => {
      connections += 1;
      throw error;
    };
    await expect(
      follow(
        open,
        () => 'more',
        async () => {},
      ),
    ).rejects.toBe(error);
    expect(connections).toBe(1);
  },
);

test('the end closes the stream', async () => {
  let closed = false;
  async function* stream() {
    try {
      yield 1;
      yield 2;
    } finally {
      closed = true;
    }
  }
  await follow(
    async () => stream(),
    () => 'ended',
  );
  expect(closed).toBe(true);
});
