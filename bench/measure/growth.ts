import { addIdleAgents, openStoreAt } from '../fabricate.ts';
import type { Measure } from '../measure.ts';
import { makePlace } from '../place.ts';
import type { Row } from '../report.ts';
import { median, timed } from '../statistics.ts';

const page = 200;

/** What a page of the listing and one more event cost when the store is a hundred times as large. */
export const growth: Measure = {
  name: 'growth',
  async run({ quick, progress }) {
    const sizes = quick ? [10, 1_000, 10_000] : [10, 1_000, 100_000];
    const listings: number[] = [];
    const appends: number[] = [];
    for (const size of sizes) {
      progress(`${size} agents`);
      const { listMs, appendMs } = await measureAt(size, quick ? 50 : 200);
      listings.push(listMs);
      appends.push(appendMs);
    }
    return [...rowsOf(`list ${page} agents`, sizes, listings), ...rowsOf('append an event', sizes, appends)];
  },
};

async function measureAt(size: number, rounds: number): Promise<{ listMs: number; appendMs: number }> {
  await using place = await makePlace();
  const store = await openStoreAt(place.home.root);
  await addIdleAgents(store, size);
  const appends: number[] = [];
  for (let round = 0; round < rounds; round++) {
    appends.push(
      await timed(() =>
        store.write(async (tx) => tx.emit({ type: 'daemon.stopped', data: { reason: 'a benchmark' } })),
      ),
    );
  }
  await store.close();
  await place.startDaemon();
  const listings: number[] = [];
  // The first requests of a young process are slow for reasons of their own.
  for (let round = -20; round < rounds; round++) {
    const took = await timed(() => place.client.listAgents({ limit: page }));
    if (round >= 0) listings.push(took);
  }
  return { listMs: median(listings), appendMs: median(appends) };
}

/** The middle size is the floor of the largest one: its listing is a full page too. */
function rowsOf(measure: string, sizes: number[], times: number[]): Row[] {
  return sizes.map((size, index) => {
    const row = {
      measure: `${measure} of ${size.toLocaleString('en-US')}`,
      value: times[index] ?? Number.NaN,
      unit: 'ms',
    };
    const middle = times[1];
    if (index < 2 || middle === undefined) return row;
    return { ...row, floor: middle, aims: [{ of: 'ratio', atMost: 1.5 }] };
  });
}
