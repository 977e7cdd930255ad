import { bubblewrap } from '@pawl/sandbox/bubblewrap';
import type { Machine } from '@pawl/sandbox/bubblewrap';
import { probeSandbox } from '@pawl/sandbox/probe';
import { noLimits } from '@pawl/schema/launch-spec';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Measure } from '../measure.ts';
import type { Place } from '../place.ts';
import { makePlace } from '../place.ts';
import type { Row } from '../report.ts';
import { alternate, median } from '../statistics.ts';
import { spawnOnce } from './spawn.ts';

const files = 100;

/** Measures the time that a sandbox adds to a process, and to the start of a session. */
export const sandbox: Measure = {
  name: 'sandbox',
  async run({ quick, progress }) {
    const found = await probeSandbox();
    if (!found.works) {
      progress(found.reason);
      return [];
    }
    progress('a process');
    const processRows = await measureProcess(found.machine, quick ? 10 : 50);
    progress('sessions');
    return [...processRows, ...(await measureSessions(quick ? 4 : 20))];
  },
};

/** A process in a sandbox, against the same process alone. */
async function measureProcess(machine: Machine, rounds: number): Promise<Row[]> {
  const launch = bubblewrap({ ...machine, temporary: [] })({
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
  const { ours, floor } = await alternate(rounds, {
    ours: () => runMs(launch.command, launch.arguments),
    floor: () => runMs('/bin/sh', ['-c', 'exec true']),
  });
  const added = median(ours) - median(floor);
  return [
    { measure: 'a process in a sandbox', value: median(ours), unit: 'ms', floor: median(floor) },
    { measure: 'added by the sandbox', value: added, unit: 'ms', aims: [{ of: 'value', atMost: 10 }] },
  ];
}

/** From the request to the first stored output: in a sandbox with all hosts, in one with listed hosts, and without one. */
async function measureSessions(rounds: number): Promise<Row[]> {
  await using plain = await readyPlace('sandbox: off\n');
  await using open = await readyPlace('sandbox: required\nnetwork: open\n');
  await using listed = await readyPlace('sandbox: required\n');
  const startOf = async ({ place, scenario }: ReadyPlace) => (await spawnOnce(place, scenario)).storedMs;
  const times = await alternate(rounds, {
    plain: () => startOf(plain),
    open: () => startOf(open),
    listed: () => startOf(listed),
  });
  const floor = median(times.plain);
  const row = (measure: string, samples: readonly number[]): Row[] => [
    { measure, value: median(samples), unit: 'ms', floor },
    { measure: `${measure}: added`, value: median(samples) - floor, unit: 'ms', aims: [{ of: 'value', atMost: 10 }] },
  ];
  return [
    ...row('session start in a sandbox, all hosts', times.open),
    ...row('session start in a sandbox, listed hosts', times.listed),
  ];
}

type ReadyPlace = { place: Place; scenario: string } & AsyncDisposable;

async function readyPlace(config: string): Promise<ReadyPlace> {
  const place = await makePlace();
  await place.startDaemon(config);
  await place.addRepository(files);
  const scenario = await place.scenario([{ say: 'hi' }, 'complete']);
  return { place, scenario, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
}

async function runMs(command: string, words: readonly string[]): Promise<number> {
  const start = performance.now();
  await once(spawn(command, words, { stdio: 'ignore' }), 'exit');
  return performance.now() - start;
}
