import { bubblewrap } from '@pawl/sandbox/bubblewrap';
import { probeSandbox } from '@pawl/sandbox/probe';
import { noLimits } from '@pawl/schema/launch-spec';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Measure } from '../measure.ts';
import { alternate, median } from '../statistics.ts';

/** A process in a sandbox, against the same process alone. */
export const sandbox: Measure = {
  name: 'sandbox',
  async run({ quick, progress }) {
    const found = await probeSandbox();
    if (!found.works) {
      progress(found.reason);
      return [];
    }
    const launch = bubblewrap({ ...found.machine, temporary: [] })({
      command: 'true',
      arguments: [],
      environment: { PATH: '/usr/bin:/bin' },
      directories: { working: '/', writable: [], readable: [] },
      limits: noLimits,
      sandbox: {
        temporary: '/tmp',
        mounts: [],
        network: 'none',
        limits: { memoryBytes: 2 ** 33, processes: 4_096, fileBytes: 2 ** 33 },
      },
    });
    const { ours, floor } = await alternate(quick ? 10 : 50, {
      ours: () => runMs(launch.command, launch.arguments),
      floor: () => runMs('/bin/sh', ['-c', 'exec true']),
    });
    const added = median(ours) - median(floor);
    return [
      { measure: 'a process in a sandbox', value: median(ours), unit: 'ms', floor: median(floor) },
      { measure: 'added by the sandbox', value: added, unit: 'ms', aims: [{ of: 'value', atMost: 10 }] },
    ];
  },
};

async function runMs(command: string, words: readonly string[]): Promise<number> {
  const start = performance.now();
  await once(spawn(command, words, { stdio: 'ignore' }), 'exit');
  return performance.now() - start;
}
