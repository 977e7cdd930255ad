import { addIdleAgents, openStoreAt } from '../fabricate.ts';
import { nodeStartMs } from '../floor.ts';
import type { Measure } from '../measure.ts';
import { makePlace } from '../place.ts';
import { commandMs, programPaths } from '../program.ts';
import { alternate, median } from '../statistics.ts';

const agents = 50;

/** The shortest command, against Node doing nothing. */
export const version: Measure = {
  name: 'version',
  async run({ quick }) {
    const { ours, floor } = await alternate(quick ? 8 : 30, {
      ours: () => commandMs(programPaths.pawl, ['version']),
      floor: nodeStartMs,
    });
    const aims = [
      { of: 'ratio' as const, atMost: 1.6 },
      { of: 'value' as const, atMost: 50 },
    ];
    return [{ measure: 'pawl version', value: median(ours), unit: 'ms', floor: median(floor), aims }];
  },
};

/** A listing from a running daemon, against Node doing nothing. */
export const ps: Measure = {
  name: 'ps',
  async run({ quick }) {
    await using place = await makePlace();
    const store = await openStoreAt(place.home.root);
    await addIdleAgents(store, agents);
    await store.close();
    await place.startDaemon();
    const env = { PAWL_HOME: place.home.root };
    const { ours, floor } = await alternate(quick ? 8 : 30, {
      ours: () => commandMs(programPaths.pawl, ['ps'], { env }),
      floor: nodeStartMs,
    });
    const aims = [
      { of: 'ratio' as const, atMost: 1.6 },
      { of: 'value' as const, atMost: 80 },
    ];
    return [{ measure: `pawl ps, ${agents} agents`, value: median(ours), unit: 'ms', floor: median(floor), aims }];
  },
};
