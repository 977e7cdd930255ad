import { sessionFile } from '@pawl/host/session/session-files';
import { waitUntil } from '@pawl/testing/wait-until';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Measure } from '../measure.ts';
import { makePlace } from '../place.ts';
import { quantile } from '../statistics.ts';
import type { WriterTask } from './line-writer.ts';

const linesPerSecond = 2_000;
const timestamp = /"text":"sent (\d+)"/g;

/** From appending a line to an agent's output until a follower has it: another process writes, this one reads. */
export const lineLatency: Measure = {
  name: 'line-sse',
  async run({ quick }) {
    const seconds = quick ? 2 : 5;
    await using place = await makePlace();
    const { client } = place;
    await place.startDaemon();
    await place.addRepository(10);
    const agent = await place.work(await place.scenario(['hang']));
    const directory = await waitUntil(
      async () => (await client.inspectAgent(agent.id)).sessions.find(({ startedAt }) => startedAt !== null)?.directory,
      { what: 'the session' },
    );
    await waitUntil(async () => (await client.output(agent.id)).chunks.length > 0, { what: 'its first output' });
    const task: WriterTask = { file: sessionFile(directory, 'out'), linesPerSecond, seconds };
    const expected = linesPerSecond * seconds;
    const latencies: number[] = [];
    const closing = new AbortController();
    const following = (async () => {
      for await (const message of client.followOutput(agent.id, { tail: 0 }, closing.signal)) {
        const now = process.hrtime.bigint();
        if (message.type !== 'chunk') continue;
        for (const [, sent] of (message.chunk.content ?? '').matchAll(timestamp)) {
          latencies.push(Number(now - BigInt(sent ?? 0)) / 1e6);
        }
        if (latencies.length >= expected) return;
      }
    })();
    const writer = fork(join(import.meta.dirname, 'line-writer.ts'), [JSON.stringify(task)]);
    const [code] = (await once(writer, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`the writer ended with ${code}`);
    await following;
    closing.abort();
    return [
      {
        measure: 'line → SSE, p50',
        value: quantile(latencies, 0.5),
        unit: 'ms',
        aims: [{ of: 'value', atMost: 2 }],
        note: `${linesPerSecond} lines/s`,
      },
      { measure: 'line → SSE, p99', value: quantile(latencies, 0.99), unit: 'ms', aims: [{ of: 'value', atMost: 50 }] },
    ];
  },
};
