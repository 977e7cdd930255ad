import { temporaryDirectory } from '@pawl/testing/temporary';
import { join } from 'node:path';
import { openStoreAt } from '../fabricate.ts';
import { plainDatabase } from '../floor.ts';
import type { Measure } from '../measure.ts';
import { alternate, median, timed } from '../statistics.ts';

/** One event made durable by the store, against one insert that is just as durable. */
export const commit: Measure = {
  name: 'commit',
  async run({ quick }) {
    await using directory = await temporaryDirectory('pawl-bench');
    const store = await openStoreAt(join(directory.path, 'home'));
    const plain = plainDatabase(join(directory.path, 'plain.db'));
    const { ours, floor } = await alternate(quick ? 200 : 1_000, {
      ours: () =>
        timed(() => store.write(async (tx) => tx.emit({ type: 'daemon.stopped', data: { reason: 'a benchmark' } }))),
      floor: () => timed(() => plain.insert()),
    });
    plain.close();
    await store.close();
    return [
      {
        measure: 'commit of one event',
        value: median(ours),
        unit: 'ms',
        floor: median(floor),
        note: 'floor: bare insert',
      },
    ];
  },
};
