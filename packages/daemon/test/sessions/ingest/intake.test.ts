import type { Batch, IntakeTarget, SaidMessage } from '@pawl/daemon/sessions/ingest/batch';
import { openIntake } from '@pawl/daemon/sessions/ingest/intake';
import { outputParsers } from '@pawl/providers/parser';
import { limits } from '@pawl/schema/limit';
import type { Agent, Session } from '@pawl/schema/record';
import { temporaryDirectory } from '@pawl/testing/temporary';
import * as fc from 'fast-check';
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freshTarget } from '../../support/intake-target.ts';

const agent = { id: 'a'.repeat(22), projectId: null } as unknown as Agent;
const session = {
  id: 's'.repeat(22),
  no: 1,
  providerSessionId: null,
  result: null,
  limitUntil: null,
} as unknown as Session;
const parser = outputParsers['claude-stream-json'];

function open(directory: string, given: Partial<IntakeTarget> = {}) {
  return openIntake({
    agent,
    session,
    directory,
    ...freshTarget(),
    ...given,
  });
}

/** Reads everything and returns the batches. */
async function takeAll(directory: string, given: Partial<IntakeTarget> = {}): Promise<Batch[]> {
  const intake = open(directory, given);
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

test('facts are found anywhere among irrelevant lines, however the output is cut [S3-21, S3-23, S3-46, S3-48]', async () => {
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

test('continues in the middle of a line after a restart, and repeats an unaccepted batch [5.2.4]', async () => {
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
  const [batch] = await takeAll(place.path, { offsets: { stdout: cut, stderr: 0 } });
  expect(batch?.chunks.map((chunk) => chunk.offset)).toEqual([cut]);
  expect(batch?.patch.result?.text).toBe('at the end');
});

test('a busy stdout does not starve stderr; a line beyond the limit and a truncated file are noted once', async () => {
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

/** A line that an assistant, or a user for it, adds to the conversation. */
const said = (type: 'assistant' | 'user', ...content: object[]) =>
  line({ type, message: { content }, session_id: 'x' });
const answer = (text: string) => said('assistant', { type: 'text', text });
const call = (id: string, command: string) =>
  said('assistant', { type: 'tool_use', id, name: 'Bash', input: { command } });
const answered = (id: string, content: string, failed = false) =>
  said('user', { type: 'tool_result', tool_use_id: id, content, is_error: failed });
const delta = (text: string) =>
  line({ type: 'stream_event', event: { delta: { type: 'text_delta', text } }, session_id: 'x' });
/** The messages without their bodies. */
const messagesOf = (batches: Batch[]): SaidMessage[] =>
  batches.flatMap((batch) => batch.messages.map(({ kind, content, data }) => ({ kind, content, data })));

/** An output file to which a test appends, and an intake that reads it. */
function follow(directory: string, given: Partial<IntakeTarget> = {}) {
  const out = join(directory, 'out');
  writeFileSync(out, '', { flag: 'a' });
  const intake = open(directory, given);
  return {
    intake,
    async add(text: string): Promise<SaidMessage[]> {
      appendFileSync(out, text);
      const messages: SaidMessage[] = [];
      for (
        let batch = await intake.collect({ final: false });
        batch !== null;
        batch = await intake.collect({ final: false })
      ) {
        messages.push(...batch.messages);
        intake.accept();
      }
      return messages;
    },
    [Symbol.dispose]: () => intake.close(),
  };
}

describe('messages become history [S1-17, W1-17]', () => {
  test('answers, tool calls and their results, linked by ids, in the order in which they came', async () => {
    await using place = await temporaryDirectory();
    const text = [
      line({ type: 'system', subtype: 'init', session_id: 'x' }),
      said('user', { type: 'text', text: 'what it was told' }),
      said('assistant', { type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'I look.' }),
      call('t1', 'ls -l'),
      call('t2', 'false'),
      answered('t2', 'no', true),
      answered('t1', 'a.ts\nb.ts'),
      'not JSON\n',
      answer('All is well.'),
      result('All is well.'),
    ];
    writeFileSync(join(place.path, 'out'), text.join(''));
    expect(messagesOf(await takeAll(place.path))).toEqual([
      { kind: 'assistant', content: 'I look.', data: null },
      { kind: 'tool_call', content: 'Bash ls -l', data: { toolId: 't1', name: 'Bash' } },
      { kind: 'tool_call', content: 'Bash false', data: { toolId: 't2', name: 'Bash' } },
      { kind: 'tool_result', content: 'no', data: { toolId: 't2', isError: true } },
      { kind: 'tool_result', content: 'a.ts\nb.ts', data: { toolId: 't1', isError: false } },
      { kind: 'assistant', content: 'All is well.', data: null },
    ]);
  });

  test('the same, wherever a restart cuts the output: nothing twice, nothing lost', async () => {
    await using place = await temporaryDirectory();
    const bytes = Buffer.from(answer('one') + call('t1', 'ls') + answered('t1', 'ü') + answer('two') + result('two'));
    const known = { ...session, providerSessionId: 'x' };
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: bytes.length }), async (cut) => {
        // The first daemon has stored the bytes up to the cut, and the messages of complete lines.
        const lines = bytes.subarray(0, bytes.subarray(0, cut).lastIndexOf('\n') + 1);
        writeFileSync(join(place.path, 'out'), lines);
        const before = messagesOf(await takeAll(place.path, { session: known }));
        writeFileSync(join(place.path, 'out'), bytes);
        const after = messagesOf(await takeAll(place.path, { session: known, offsets: { stdout: cut, stderr: 0 } }));
        expect([...before, ...after].map(({ content }) => content)).toEqual(['one', 'Bash ls', 'ü', 'two']);
      }),
      { numRuns: 60 },
    );
  });

  test('an unaccepted batch comes again with its messages, which are not counted twice', async () => {
    await using place = await temporaryDirectory();
    writeFileSync(join(place.path, 'out'), answer('one'));
    using followed = follow(place.path, { messages: limits.messagesPerSession - 1 });
    const first = await followed.intake.collect({ final: false });
    expect(await followed.intake.collect({ final: false })).toBe(first);
    followed.intake.accept();
    expect(first?.messages.map(({ content }) => content)).toEqual(['one']);
    expect((await followed.add(answer('two'))).map(({ kind }) => kind)).toEqual(['system']);
  });

  test('a long text is cut in the history and whole in the output', async () => {
    await using place = await temporaryDirectory();
    const long = 'x'.repeat(limits.messageCharacters + 1);
    writeFileSync(join(place.path, 'out'), answer(long) + call('t1', long) + answered('t1', long));
    const batches = await takeAll(place.path);
    const messages = messagesOf(batches);
    expect(messages.map(({ content }) => content.length)).toEqual(Array(3).fill(limits.messageCharacters));
    for (const { content } of messages) expect(content.endsWith('…')).toBe(true);
    const stored = Buffer.concat(batches.flatMap((batch) => batch.chunks).map((chunk) => chunk.bytes));
    expect(stored.toString()).toContain(long);
  });

  test('a text that just fits is whole', async () => {
    await using place = await temporaryDirectory();
    const long = 'x'.repeat(limits.messageCharacters);
    writeFileSync(join(place.path, 'out'), answer(long));
    expect(messagesOf(await takeAll(place.path)).map(({ content }) => content)).toEqual([long]);
  });

  test('plain text is not a conversation: it adds nothing, and nothing waits for it', async () => {
    await using place = await temporaryDirectory();
    using followed = follow(place.path, { parser: outputParsers.text });
    expect(await followed.add(`a word\n${call('t1', 'ls')}${delta('half')}`)).toEqual([]);
    expect(followed.intake.turn()).toEqual({ tools: [], answering: false });
    expect(followed.intake.live()?.live).toBe('working');
  });
});

describe('a history of one session is bounded', () => {
  const most = limits.messagesPerSession;

  test('the limit is followed by one closing message, and then by none', async () => {
    await using place = await temporaryDirectory();
    using followed = follow(place.path);
    const first = await followed.add(answer('a').repeat(most));
    expect(first.length).toBe(most);
    expect(new Set(first.map(({ kind }) => kind))).toEqual(new Set(['assistant']));
    const closing = await followed.add(answer('b').repeat(3));
    expect(closing).toEqual([{ kind: 'system', content: expect.stringContaining('pawl logs') as string, data: null }]);
    expect(await followed.add(answer('c').repeat(3))).toEqual([]);
  });

  test.each([
    ['one below the limit', most - 1, ['assistant', 'system']],
    ['at the limit', most, ['system']],
    ['with its closing message', most + 1, []],
  ])('after a restart %s', async (_name, messages, kinds) => {
    await using place = await temporaryDirectory();
    using followed = follow(place.path, { messages });
    expect((await followed.add(answer('a').repeat(4))).map(({ kind }) => kind)).toEqual(kinds);
  });

  test('lines without a fact are not parsed any more, but the end of the turn is noticed', async () => {
    await using place = await temporaryDirectory();
    let parsed = 0;
    const counting = {
      ...parser,
      parse: (text: string) => {
        parsed++;
        return parser.parse(text);
      },
    };
    using followed = follow(place.path, { parser: counting, messages: most });
    await followed.add(answer('a'));
    expect(parsed).toBe(1);
    await followed.add(answer('b').repeat(500));
    // Only the last line is read, for the agent's current activity.
    expect(parsed).toBe(2);
    expect(followed.intake.live()).toEqual({ live: 'working', detail: 'b' });
    await followed.add(answer('c').repeat(500) + result('done'));
    expect(followed.intake.turnEnded()).toBe(true);
  });

  test('below the limit every line of the conversation is parsed', async () => {
    await using place = await temporaryDirectory();
    using followed = follow(place.path);
    await followed.add(answer('a'));
    expect((await followed.add(answer('b').repeat(500))).length).toBe(500);
  });
});

describe('the state of a turn [3.2.4]', () => {
  test('its tools run from their call to their result, several at once', async () => {
    await using place = await temporaryDirectory();
    using followed = follow(place.path);
    const { intake } = followed;
    expect(intake.turn()).toEqual({ tools: [], answering: false });
    await followed.add(call('t1', 'npm test\nsecond line') + call('t2', 'ls'));
    expect(intake.turn().tools).toEqual(['Bash npm test', 'Bash ls']);
    await followed.add(answered('t1', 'ok'));
    expect(intake.turn().tools).toEqual(['Bash ls']);
    await followed.add(answered('t3', 'whose?') + answered('t2', 'ok'));
    expect(intake.turn().tools).toEqual([]);
  });

  test('input after its result begins another turn, whose result is unknown [W3-09]', async () => {
    await using place = await temporaryDirectory();
    const echo = line({
      type: 'user',
      message: { role: 'user', content: 'and another thing' },
      isReplay: true,
      uuid: '00000000-0000-4000-8000-000000000001',
      session_id: 'x',
    });
    writeFileSync(join(place.path, 'out'), result('one'));
    const intake = open(place.path);
    const taken = async () => {
      const batch = await intake.collect({ final: false });
      intake.accept();
      return batch?.patch.result;
    };
    expect(await taken()).toMatchObject({ ok: true, text: 'one' });
    expect(intake.pace()).toMatchObject({ silentMs: 0, lingeringMs: expect.closeTo(0, -4) as number });
    appendFileSync(join(place.path, 'out'), echo);
    expect(await taken()).toBeNull();
    expect(intake.turnEnded()).toBe(false);
    expect(intake.pace()).toMatchObject({ lingeringMs: 0 });
    intake.close();
  });

  test('an answer is incomplete from its first piece until its end [S3-47]', async () => {
    await using place = await temporaryDirectory();
    using followed = follow(place.path);
    const { intake } = followed;
    expect(await followed.add(delta('Hel'))).toEqual([]);
    expect(intake.turn()).toEqual({ tools: [], answering: true });
    await followed.add(delta('lo'));
    expect(intake.turn().answering).toBe(true);
    expect((await followed.add(answer('Hello'))).map(({ content }) => content)).toEqual(['Hello']);
    expect(intake.turn().answering).toBe(false);
  });

  test('nothing outlives the end of a turn: neither a tool without a result nor an incomplete answer', async () => {
    await using place = await temporaryDirectory();
    using followed = follow(place.path);
    await followed.add(call('t1', 'sleep') + delta('Hel'));
    expect(followed.intake.turn()).toEqual({ tools: ['Bash sleep'], answering: true });
    await followed.add(result('cut short'));
    expect(followed.intake.turn()).toEqual({ tools: [], answering: false });
  });

  test('a tool that ran when the last daemon ended still runs, until its result comes', async () => {
    await using place = await temporaryDirectory();
    const openTools = new Map([['t1', 'Bash sleep']]);
    using followed = follow(place.path, { openTools });
    expect(followed.intake.turn().tools).toEqual(['Bash sleep']);
    await followed.add(answered('t1', 'ok'));
    expect(followed.intake.turn().tools).toEqual([]);
    expect(openTools.size).toBe(1);
  });
});
