import { limits } from '@pawl/schema/limit';
import { describe, expect, test } from 'vitest';
import { checkErrand, refuseBusy, refuseDead, refuseOther, refuseUntellable } from '../../src/agents/errand.ts';
import { aRun, aSession, anAgent } from '../fixture.ts';

const errand = anAgent({ mode: 'errand' });
const session = aSession({ providerSessionId: 'theirs' });
const ended = aSession({ providerSessionId: 'theirs', endedAt: 5, exitCode: 0 });

test('an errand is described in one line of at most 200 characters [W3-03]', () => {
  expect(() => checkErrand('x'.repeat(limits.errandCharacters))).not.toThrow();
  for (const description of ['x'.repeat(limits.errandCharacters + 1), 'two\nlines']) {
    expect(() => checkErrand(description)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  }
});

test('an agent that is not an errand is refused', () => {
  expect(() => refuseOther(errand)).not.toThrow();
  expect(() => refuseOther(anAgent())).toThrow(/not an errand/);
});

describe('an errand takes a message [S3-56]', () => {
  test.each([
    ['that runs', { agent: errand, run: aRun(), session }],
    ['that rests', { agent: errand, run: aRun({ outcome: 'completed', endedAt: 5 }), session: ended }],
  ])('%s', (_name, facts) => {
    expect(() => refuseUntellable(facts)).not.toThrow();
  });

  test.each([
    ['not an errand', { agent: anAgent(), run: aRun(), session }, /not an errand/],
    [
      'dead',
      { agent: anAgent({ mode: 'errand', endedAt: 5, endReason: 'merged' }), run: aRun(), session },
      /ended: merged/,
    ],
    [
      'without a conversation',
      { agent: errand, run: aRun(), session: aSession({ providerSessionId: null }) },
      /conversation/,
    ],
    [
      'crashed',
      { agent: errand, run: aRun({ outcome: 'failed', endedAt: 5 }), session: ended },
      /is crashed, so it cannot take a message/,
    ],
    [
      'waiting for an answer',
      {
        agent: errand,
        run: aRun({ outcome: 'completed', endedAt: 5, questions: [{ id: 'a', question: 'b' }] }),
        session: ended,
      },
      /waiting_for_input/,
    ],
  ])('but not one that is %s', (_name, facts, message) => {
    expect(() => refuseUntellable(facts)).toThrow(message);
  });
});

test('an errand is merged only when idle, and only once', () => {
  const rests = { agent: errand, run: aRun({ outcome: 'completed', endedAt: 5 }), session: ended };
  expect(() => refuseBusy(rests)).not.toThrow();
  expect(() => refuseBusy({ ...rests, run: null, session: null })).not.toThrow();
  for (const busy of [
    { ...rests, run: aRun() },
    { ...rests, session },
  ]) {
    expect(() => refuseBusy(busy)).toThrow(expect.objectContaining({ code: 'busy' }));
  }
  expect(() => refuseDead(errand)).not.toThrow();
  expect(() => refuseDead(anAgent({ endedAt: 1 }))).toThrow(expect.objectContaining({ code: 'conflict' }));
});
