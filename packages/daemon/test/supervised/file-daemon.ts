import { createHost } from '@pawl/host/host';
import type { Piece } from '@pawl/host/supervise/output';
import { openOutput } from '@pawl/host/supervise/output';
import { supervise } from '@pawl/host/supervise/supervise';
import { watchProcesses } from '@pawl/host/supervise/watch-processes';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { noLimits } from '@pawl/schema/launch-spec';
import { readFacts, writeFacts } from './file-facts.ts';

/**
 * Supervises one command, whose facts are in a file, until it has ended or somebody kills this process.
 * `node file-daemon.ts <place>`
 */
const [place = ''] = process.argv.slice(2);
const directory = join(place, 'process');
const facts = readFacts(place);
const save = (changes: Partial<typeof facts>) => writeFacts(place, Object.assign(facts, changes));

const supervised = supervise(createHost(), {
  marker: facts.marker,
  directory,
  identity: facts.identity,
  recordStart: async (identity) => save({ identity }),
});
await supervised.begin(
  async () => ({
    launch: {
      command: '/bin/sh',
      arguments: ['-c', facts.script],
      environment: { PATH: process.env['PATH'] ?? '' },
      directories: { working: place, writable: [place], readable: [] },
      limits: noLimits,
      sandbox: null,
    },
    prompt: '',
    stdin: 'file',
  }),
  { leftoverGraceMs: 0 },
);
const output = openOutput({
  directory,
  offsets: { stdout: facts.offset },
  secrets: [],
  toBatch: (pieces) => (pieces.length === 0 ? null : pieces),
});
let hasLeft = false;
const watch = watchProcesses(
  { onChange() {}, onLeft: () => (hasLeft = true), onLimit() {}, onError() {} },
  { pollMs: 10, livenessMs: 50 },
);
watch.add({ directory, identity: facts.identity, limits: noLimits, ranMs: 0 });
while (!hasLeft && !existsSync(join(place, 'stop'))) {
  await store(false);
  await delay(10);
}
watch.close();
const { exitCode } = await supervised.end({ graceMs: 200 });
await store(true);
save({ ended: true, exitCode });

/** Stores all output that there is, together with the offset. */
async function store(final: boolean): Promise<void> {
  for (let batch = await output.collect({ final }); batch !== null; batch = await output.collect({ final })) {
    save({ offset: endOf(batch), output: facts.output + textOf(batch) });
    output.accept();
  }
}

function endOf(pieces: readonly Piece[]): number {
  return pieces.reduce((end, { offset, bytes }) => Math.max(end, offset + bytes.length), 0);
}

function textOf(pieces: readonly Piece[]): string {
  return pieces.map(({ bytes }) => Buffer.from(bytes).toString('utf8')).join('');
}
