import { addIdleAgents, openStoreAt } from '../fabricate.ts';
import type { Measure } from '../measure.ts';
import { makePlace } from '../place.ts';
import { childCount, residentBytes } from '../program.ts';
import type { Row } from '../report.ts';
import { median } from '../statistics.ts';

const megabyte = 1024 * 1024;
const requests = 5;

/** The memory and the processes of a daemon with idle agents. */
export const memory: Measure = {
  name: 'memory',
  async run({ progress }) {
    const rows: Row[] = [];
    let empty = 0;
    for (const count of [0, 100, 1_000]) {
      progress(`${count} agents`);
      const samples = [await residentWith(count), await residentWith(count), await residentWith(count)];
      const megabytes = median(samples.map((sample) => sample.megabytes));
      const children = Math.max(...samples.map((sample) => sample.children));
      if (count === 0) empty = megabytes;
      rows.push({
        measure: `memory, ${count} idle agents`,
        value: megabytes,
        unit: 'MB',
        ...(count === 0 ? { aims: [{ of: 'value', atMost: 80 }] } : {}),
        note: `${children} processes`,
      });
      if (count === 1_000) {
        const added = megabytes - empty;
        rows.push({ measure: 'memory that 1,000 add', value: added, unit: 'MB', aims: [{ of: 'value', atMost: 20 }] });
      }
    }
    return rows;
  },
};

async function residentWith(count: number): Promise<{ megabytes: number; children: number }> {
  await using place = await makePlace();
  const store = await openStoreAt(place.home.root);
  await addIdleAgents(store, count);
  await store.close();
  const daemon = await place.startDaemon();
  for (let request = 0; request < requests; request++) await place.client.listAgents();
  return { megabytes: residentBytes(daemon.pid) / megabyte, children: childCount(daemon.pid) };
}
