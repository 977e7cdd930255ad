import { startIngest } from '@pawl/daemon/sessions/ingest/ingest';
import type { PromptAssets } from '@pawl/core/prompts/assets';
import { PawlError } from '@pawl/schema/error';
import { readChunks } from '@pawl/store/sessions/chunks';
import { insertRun } from '@pawl/store/sessions/runs';
import { insertSession, sessionById } from '@pawl/store/sessions/sessions';
import type { Committed, Store } from '@pawl/store/store';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshTarget } from '../../support/intake-target.ts';
import { openMailHome } from '../../support/mail-home.ts';
import { runRecord, sessionRecord } from '../../support/records.ts';

const line = (value: object) => `${JSON.stringify(value)}\n`;
const output =
  line({ type: 'system', subtype: 'init', session_id: 'conversation-1' }) +
  line({ type: 'assistant', message: { content: [{ type: 'text', text: 'hello' }] }, session_id: 'conversation-1' }) +
  line({ type: 'result', subtype: 'success', is_error: false, result: 'all done', session_id: 'conversation-1' });

/** A session that has printed `output`, and an ingest over a store whose next writes can be made to fail. */
async function printed() {
  const place = await openMailHome();
  const { store, fox, home } = place;
  const run = runRecord({ agentId: fox.id, projectId: fox.projectId ?? '' });
  const session = sessionRecord(run, { startedAt: 1 });
  await store.write(async (tx) => {
    await insertRun(tx, run);
    await insertSession(tx, session);
  });
  const directory = join(home.sessions, session.id);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'out'), output);
  writeFileSync(join(directory, 'err'), '');
  const evidence: Committed[] = [];
  const stopListening = store.onCommit((committed) => evidence.push(committed));
  let failures = 0;
  const told: string[] = [];
  const write: Store['write'] = (work) => {
    if (failures === 0) return store.write(work);
    failures -= 1;
    return store.write(async (tx) => {
      await work(tx);
      throw new PawlError('unavailable', 'The disk is full.');
    });
  };
  const ingest = startIngest({
    store: { ...store, write },
    prompts: {} as PromptAssets,
    onLeft() {},
    onTurnEnded: () => told.push('turn ended'),
    onUsage() {},
    onTrouble: (reason) => told.push(reason),
    onError: (error) => told.push(String(error)),
  });
  await ingest.attach({ agent: fox, session, directory, ...freshTarget() });
  return {
    ingest,
    told,
    evidence,
    takeIn: () => ingest.catchUp(fox.id),
    failNext: () => (failures = 1),
    stored: async () => {
      const found = await sessionById(store.db, session.id);
      const chunks = await readChunks(store.db, { sessionId: session.id, limitRows: 10, limitBytes: 1e6 });
      return {
        id: found?.providerSessionId,
        result: found?.result?.text,
        bytes: chunks.map(({ bytes }) => bytes.length),
      };
    },
    async [Symbol.asyncDispose]() {
      stopListening();
      await ingest.close();
      await place[Symbol.asyncDispose]();
    },
  };
}

test('the provider’s session id and result are stored with their output, in one commit [S3-23, S3-46]', async () => {
  await using place = await printed();
  await place.takeIn();
  expect(await place.stored()).toEqual({ id: 'conversation-1', result: 'all done', bytes: [output.length] });
  expect(place.evidence.map(({ chunks, events }) => [chunks.length, ...events.map(({ type }) => type)])).toEqual([
    [1, 'session.identified'],
  ]);
  expect(place.told).toEqual(['turn ended']);
});

test('output that could not be stored is not announced, and is read again as a whole [S3-23]', async () => {
  await using place = await printed();
  place.failNext();
  await place.takeIn();
  expect(await place.stored()).toEqual({ id: null, result: undefined, bytes: [] });
  expect(place.evidence).toEqual([]);
  expect(place.told).toEqual(['The disk is full.']);
  expect(place.ingest.trouble()).toBe('The disk is full.');
  await place.takeIn();
  expect(await place.stored()).toEqual({ id: 'conversation-1', result: 'all done', bytes: [output.length] });
  expect(place.evidence).toHaveLength(1);
  expect(place.ingest.trouble()).toBeNull();
});
