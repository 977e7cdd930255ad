import type { Batch } from '@pawl/daemon/ingest/intake';
import { openIntake } from '@pawl/daemon/ingest/intake';
import { outputParsers } from '@pawl/providers/parser';
import { limits } from '@pawl/schema/limit';
import type { Agent, Session } from '@pawl/schema/record';
import { noUsage } from '@pawl/schema/record';
import { temporaryDirectory } from '@pawl/testing/temporary';
import * as fc from 'fast-check';
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const agent = { id: 'a'.repeat(22), projectId: null } as unknown as Agent;
const session = {
  id: 's'.repeat(22),
  no: 1,
  providerSessionId: null,
  result: null,
  limitUntil: null,
} as unknown as Session;
const parser = outputParsers['claude-stream-json'];

function open(directory: string, offsets = { stdout: 0, stderr: 0 }) {
  return openIntake({ agent, session, directory, parser, usageScope: 'session', earlierUsage: noUsage, offsets });
}

/** Takes everything in and gives the batches. */
async function takeAll(directory: string, offsets?: { stdout: number; stderr: number }): Promise<Batch[]> {
  const intake = open(directory, offsets);
  const batches: Batch[] = [];
  for (
    let batch = await intake.collect({ final: true });
    batch !== null;
    batch = await intake.collect({ final: true })
  ) {
    batches.push(batch);
    intake.accept();
  }
  intake.close();
  return batches;
}

const line = (value: object) => `${JSON.stringify(value)}\n`;
const talk = line({
  type: 'assistant',
  message: { content: [{ type: 'text', text: 'the "result" of it' }] },
  session_id: 'x',
});
const result = (text: string) =>
  line({ session_id: 'x', is_error: false, result: text, subtype: 'success', num_turns: 1, type: 'result' });
const limit = line({
  type: 'rate_limit_event',
  rate_limit_info: { status: 'rejected', resetsAt: 2_000_000_000 },
  session_id: 'x',
});

test('facts are found wherever they stand among lines that tell nothing, whatever the cuts', async () => {
  await using place = await temporaryDirectory();
  const piece = fc.constantFrom(
    talk,
    talk.repeat(2_000),
    'not JSON\n',
    '\n',
    result('one'),
    result('two'),
    limit,
    `${'x'.repeat(300_000)}\n`,
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
      const text = pieces.join('');
      writeFileSync(join(place.path, 'out'), text);
      writeFileSync(join(place.path, 'err'), '');
      const batches = await takeAll(place.path);
      const chunks = batches.flatMap((batch) => batch.chunks);
      expect(Buffer.concat(chunks.map((chunk) => chunk.bytes)).toString()).toBe(text);
      const facts = Object.assign({}, ...batches.map((batch) => batch.patch)) as Batch['patch'];
      const results = pieces.filter((each) => each.includes('"type":"result"'));
      expect(facts.result?.text).toBe(
        results.length === 0 ? undefined : results.at(-1)?.includes('one') ? 'one' : 'two',
      );
      const limitedLast =
        pieces.lastIndexOf(limit) > Math.max(pieces.lastIndexOf(result('one')), pieces.lastIndexOf(result('two')));
      expect(facts.limitUntil ?? null).toBe(limitedLast ? 2_000_000_000_000 : null);
    }),
    { numRuns: 40 },
  );
});

test('goes on in the middle of a line after a restart, and a batch that was not accepted comes again', async () => {
  await using place = await temporaryDirectory();
  const out = join(place.path, 'out');
  const whole = talk + result('at the end');
  const cut = talk.length + 20;
  writeFileSync(out, whole.slice(0, cut));
  const first = open(place.path);
  const before = await first.collect({ final: false });
  expect(await first.collect({ final: false })).toBe(before);
  first.close();
  appendFileSync(out, whole.slice(cut));
  const [batch] = await takeAll(place.path, { stdout: cut, stderr: 0 });
  expect(batch?.chunks.map((chunk) => chunk.offset)).toEqual([cut]);
  expect(batch?.patch.result?.text).toBe('at the end');
});

test('a loud stdout does not silence stderr; a line beyond the limit and a truncated file are noted once', async () => {
  await using place = await temporaryDirectory();
  const out = join(place.path, 'out');
  writeFileSync(out, talk.repeat(40_000));
  writeFileSync(join(place.path, 'err'), 'a word on stderr\n');
  const batches = await takeAll(place.path);
  expect(
    batches
      .slice(0, 2)
      .flatMap((batch) => batch.chunks)
      .some((chunk) => chunk.stream === 'stderr'),
  ).toBe(true);
  writeFileSync(out, `${'y'.repeat(limits.lineBytes + 1)}\n${talk}`);
  const intake = open(place.path);
  const events = [];
  for (
    let batch = await intake.collect({ final: false });
    batch !== null;
    batch = await intake.collect({ final: false })
  ) {
    events.push(...batch.events);
    intake.accept();
  }
  truncateSync(out, 0);
  appendFileSync(out, talk);
  const after = await intake.collect({ final: true });
  expect(
    [...events, ...(after?.events ?? [])]
      .filter((event) => event.type === 'session.damaged')
      .map((event) => event.data),
  ).toEqual([
    { no: 1, stream: 'stdout', reason: expect.stringContaining('longer than') as string },
    { no: 1, stream: 'stdout', reason: 'the output file was truncated' },
  ]);
  expect(
    Buffer.concat(
      (after?.chunks ?? []).filter((chunk) => chunk.stream === 'stdout').map((chunk) => chunk.bytes),
    ).toString(),
  ).toBe(readFileSync(out, 'utf8'));
  intake.close();
});
