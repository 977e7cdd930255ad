import { setTimeout as delay } from 'node:timers/promises';
import { waitUntil } from '@pawl/testing/wait-until';
import type { Measure } from '../measure.ts';
import type { DaemonProcess, Place } from '../place.ts';
import { makePlace } from '../place.ts';
import { processorMs, residentBytes } from '../program.ts';

const megabyte = 1024 * 1024;

/** Kills a daemon among live agents: how soon it answers again and has adopted all of them. */
export const restart: Measure = {
  name: 'restart',
  async run({ quick, progress }) {
    const count = quick ? 10 : 50;
    await using place = await makePlace();
    const daemon = await startSilentAgents(place, count, progress);
    const { client } = place;
    const { lastSeq } = await client.daemon();
    await daemon.kill('SIGKILL');
    const start = performance.now();
    await place.startDaemon();
    await client.daemon();
    const answeredMs = performance.now() - start;
    await waitUntil(async () => (await adoptedAfter(place, lastSeq)) === count, { what: `${count} adoptions` });
    const adoptedMs = performance.now() - start;
    const aims = [{ of: 'value' as const, atMost: 1_000 }];
    return [
      { measure: `restart with ${count} live agents: answers`, value: answeredMs, unit: 'ms' },
      { measure: `restart with ${count} live agents: adopted`, value: adoptedMs, unit: 'ms', aims },
    ];
  },
};

/** A daemon's resource use while its agents are silent. */
export const idle: Measure = {
  name: 'idle',
  async run({ quick, progress }) {
    const count = quick ? 10 : 50;
    const seconds = quick ? 4 : 10;
    await using place = await makePlace();
    const daemon = await startSilentAgents(place, count, progress);
    // Work left over from the start is not idle use.
    await delay(8_000);
    const before = processorMs(daemon.pid);
    const start = performance.now();
    await delay(seconds * 1_000);
    const used = ((processorMs(daemon.pid) - before) / (performance.now() - start)) * 100;
    const resident = residentBytes(daemon.pid) / megabyte;
    return [
      {
        measure: `idle with ${count} live agents`,
        value: used,
        unit: '% of a core',
        aims: [{ of: 'value', atMost: 0.5 }],
      },
      {
        measure: `memory with ${count} live agents`,
        value: resident,
        unit: 'MB',
        aims: [{ of: 'value', atMost: 130 }],
      },
    ];
  },
};

async function startSilentAgents(
  place: Place,
  count: number,
  progress: (text: string) => void,
): Promise<DaemonProcess> {
  const daemon = await place.startDaemon();
  await place.addRepository(10);
  const scenario = await place.scenario(['hang']);
  progress(`${count} live agents`);
  const agents = await Promise.all(Array.from({ length: count }, () => place.work(scenario)));
  for (const { id } of agents) {
    await waitUntil(async () => (await place.client.output(id, { limit: 1 })).chunks.length > 0, {
      timeoutMs: 60_000,
      what: `the first output of ${id}`,
    });
  }
  return daemon;
}

async function adoptedAfter(place: Place, seq: number): Promise<number> {
  const { events } = await place.client.events({ after: seq, limit: 1_000 });
  return events.filter((event) => event.type === 'session.adopted').length;
}
