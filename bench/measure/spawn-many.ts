import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { plainWorktreesMs } from '../floor.ts';
import type { Measure } from '../measure.ts';
import { makePlace } from '../place.ts';

const files = 1_000;

/** Many agents requested at once, until all their sessions have started. */
export const spawnMany: Measure = {
  name: 'spawn-50',
  async run({ quick, progress }) {
    const count = quick ? 10 : 50;
    await using place = await makePlace();
    const { client } = place;
    await place.startDaemon();
    progress(`a repository of ${files} files`);
    await place.addRepository(files);
    const plain = join(place.path, 'plain');
    await mkdir(plain);
    const floor = await plainWorktreesMs(place.repository, plain, count);
    const scenario = await place.scenario(['hang']);
    const { lastSeq } = await client.daemon();
    const start = performance.now();
    const closing = new AbortController();
    const accepted = Promise.all(Array.from({ length: count }, () => place.work(scenario))).then(() =>
      performance.now(),
    );
    let started = 0;
    for await (const message of client.followEvents(lastSeq, {}, closing.signal)) {
      if (message.type !== 'event') throw new Error('the event stream has a gap');
      if (message.event.type === 'run.ended') throw new Error(`an agent failed: ${JSON.stringify(message.event.data)}`);
      if (message.event.type === 'session.started' && ++started === count) break;
    }
    const took = performance.now() - start;
    closing.abort();
    return [
      { measure: `${count} spawns accepted`, value: (await accepted) - start, unit: 'ms' },
      {
        measure: `${count} spawns started`,
        value: took,
        unit: 'ms',
        floor,
        aims: [{ of: 'value', atMost: (1_500 * count) / 50 }],
        note: 'floor: git alone',
      },
    ];
  },
};
