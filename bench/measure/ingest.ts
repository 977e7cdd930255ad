import { temporaryDirectory } from '@pawl/testing/temporary';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Measure } from '../measure.ts';
import type { Row } from '../report.ts';
import { alternate, median } from '../statistics.ts';
import type { IngestReport, IngestTask } from './ingest-child.ts';
import { writeOutputFile } from './ingest-data.ts';

const megabyte = 1024 * 1024;

/**
 * Ingests a large output file by the daemon's own pipeline, against reading it and splitting it into lines. Each run is
 * a separate process, to measure its memory.
 */
export const ingest: Measure = {
  name: 'ingest',
  async run({ quick, progress }) {
    await using directory = await temporaryDirectory('pawl-bench');
    const megabytes = quick ? 40 : 200;
    progress(`a file of ${megabytes} MB`);
    const file = join(directory.path, 'output');
    const lines = writeOutputFile(file, megabytes * megabyte);
    const peaks: number[] = [];
    const runOf = (kind: IngestTask['kind']) => async (round: number) => {
      progress(`${kind}, round ${round}`);
      const report = await runChild({ kind, file, directory: join(directory.path, `${kind}-${round}`) });
      if (kind === 'pipeline') peaks.push(report.peakBytes);
      return report.tookMs;
    };
    const { pipeline, unparsed, floor } = await alternate(quick ? 2 : 3, {
      pipeline: runOf('pipeline'),
      unparsed: runOf('unparsed'),
      floor: runOf('floor'),
    });
    const tookMs = median(pipeline);
    const rows: Row[] = [
      {
        measure: `ingest ${megabytes} MB of JSONL`,
        value: tookMs,
        unit: 'ms',
        floor: median(floor),
        aims: [{ of: 'ratio', atMost: 5 }],
        note: `${Math.round((megabytes / tookMs) * 1_000)} MB/s`,
      },
      {
        measure: 'ingest rate',
        value: (lines / tookMs) * 1_000,
        unit: 'lines/s',
        aims: [{ of: 'value', atLeast: 150_000 }],
      },
      {
        measure: 'ingest without parsing',
        value: median(unparsed),
        unit: 'ms',
        floor: median(floor),
        note: 'read, split, store',
      },
      { measure: 'ingest peak memory', value: Math.max(...peaks) / megabyte, unit: 'MB' },
    ];
    return rows;
  },
};

async function runChild(task: IngestTask): Promise<IngestReport> {
  const child = fork(join(import.meta.dirname, 'ingest-child.ts'), [JSON.stringify(task)]);
  const exited = once(child, 'exit');
  const [answer] = await Promise.race([
    once(child, 'message'),
    exited.then(() => Promise.reject(new Error(`the ${task.kind} run ended without a word`))),
  ]);
  await exited;
  return answer as IngestReport;
}
