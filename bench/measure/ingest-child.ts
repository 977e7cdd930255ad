import { startIngest } from '@pawl/daemon/sessions/ingest/ingest';
import { loadPromptAssets } from '@pawl/daemon/prompts/assets';
import { programs } from '@pawl/protocol/node/programs';
import { outputParsers } from '@pawl/providers/parser';
import { linkSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addOpenSession, openStoreAt } from '../fabricate.ts';
import { readLines } from '../floor.ts';

export type IngestTask = { kind: 'pipeline' | 'unparsed' | 'floor'; file: string; directory: string };
export type IngestReport = { tookMs: number; peakBytes: number };

/** Ingests the file as the daemon does, from attaching to its session until the last byte is stored. */
async function takeIn({ kind, file, directory }: IngestTask): Promise<number> {
  mkdirSync(directory, { mode: 0o700 });
  linkSync(file, join(directory, 'out'));
  writeFileSync(join(directory, 'err'), '');
  const store = await openStoreAt(join(directory, 'home'));
  const { agent, session } = await addOpenSession(store);
  const { size } = statSync(file);
  const done = Promise.withResolvers<void>();
  let stored = 0;
  store.onCommit(({ chunks }) => {
    for (const chunk of chunks) stored += chunk.bytes.length;
    if (stored === size) done.resolve();
  });
  const ingest = startIngest({
    store,
    prompts: await loadPromptAssets(programs.prompts),
    onLeft() {},
    onTurnEnded() {},
    onUsage() {},
    onTrouble: (error) => done.reject(error),
    onError: (error) => done.reject(error),
  });
  const parser =
    kind === 'pipeline' ? outputParsers['claude-stream-json'] : { parse: () => [], telling: [], conversation: [] };
  // The watch and its poll do not keep a process alive.
  const awake = setInterval(() => undefined, 1_000);
  const start = performance.now();
  await ingest.attach({
    agent,
    session,
    directory,
    parser,
    reportedBefore: null,
    secrets: [],
    messages: 0,
    openTools: new Map(),
    offsets: { stdout: 0, stderr: 0 },
    proxyOffset: 0,
  });
  await done.promise;
  const took = performance.now() - start;
  clearInterval(awake);
  await ingest.close();
  await store.close();
  return took;
}

function readPlainly(file: string): number {
  const start = performance.now();
  readLines(file);
  return performance.now() - start;
}

const task = JSON.parse(process.argv[2] ?? '') as IngestTask;
const tookMs = task.kind === 'floor' ? readPlainly(task.file) : await takeIn(task);
const report: IngestReport = { tookMs, peakBytes: process.resourceUsage().maxRSS * 1024 };
process.send?.(report, () => process.disconnect());
