import type { Store } from '@pawl/store/store';
import { join } from 'node:path';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { addIdleAgents, openStoreAt } from '../fabricate.ts';
import type { Measure, MeasureOptions } from '../measure.ts';
import type { Place } from '../place.ts';
import { makePlace } from '../place.ts';
import type { Row } from '../report.ts';
import { alternate, median, timed } from '../statistics.ts';

const page = 200;

/** The cost of a listing page and of one more event in a store a hundred times as large. */
export const growth: Measure = {
  name: 'growth',
  async run(options) {
    const sizes = options.quick ? [10, 1_000, 10_000] : [10, 1_000, 100_000];
    return [
      ...rowsOf('append an event', sizes, await appendTimes(sizes, options)),
      ...rowsOf(`list ${page} agents`, sizes, await listTimes(sizes, options)),
    ];
  },
};

async function appendTimes(sizes: number[], { quick, progress }: MeasureOptions): Promise<number[]> {
  await using directory = await temporaryDirectory('pawl-bench');
  const stores: Store[] = [];
  for (const size of sizes) {
    progress(`appending to ${size} agents`);
    const store = await openStoreAt(join(directory.path, String(size)));
    await addIdleAgents(store, size);
    stores.push(store);
  }
  const append = (store: Store) =>
    timed(() => store.write(async (tx) => tx.emit({ type: 'daemon.stopped', data: { reason: 'a benchmark' } })));
  const times = await alternateAll(stores, quick ? 50 : 300, append);
  for (const store of stores) await store.close();
  return times;
}

async function listTimes(sizes: number[], { quick, progress }: MeasureOptions): Promise<number[]> {
  await using cleanup = new AsyncDisposableStack();
  const places: Place[] = [];
  for (const size of sizes) {
    progress(`listing ${size} agents`);
    const place = cleanup.use(await makePlace());
    const store = await openStoreAt(place.home.root);
    await addIdleAgents(store, size);
    await store.close();
    await place.startDaemon();
    places.push(place);
  }
  const list = (place: Place) => timed(() => place.client.listAgents({ limit: page }));
  // The first requests of a new process are slow for other reasons.
  await alternateAll(places, 20, list);
  // Awaited here: the places end with this function.
  return await alternateAll(places, quick ? 50 : 200, list);
}

/** The median times of the same work on several subjects, interleaved. */
async function alternateAll<Thing>(
  things: Thing[],
  rounds: number,
  work: (thing: Thing) => Promise<number>,
): Promise<number[]> {
  const works = Object.fromEntries(things.map((thing, index) => [`${index}`, () => work(thing)]));
  return Object.values(await alternate(rounds, works)).map(median);
}

/** The middle size is the floor of the largest one: its listing is a full page, too. */
function rowsOf(measure: string, sizes: number[], times: number[]): Row[] {
  return sizes.map((size, index) => {
    const value = times[index] ?? Number.NaN;
    const row = { measure: `${measure} of ${size.toLocaleString('en-US')}`, value, unit: 'ms' };
    const middle = times[1];
    if (index < 2 || middle === undefined) return row;
    return { ...row, floor: middle, aims: [{ of: 'ratio', atMost: 1.5 }], note: 'floor: 1,000' };
  });
}
