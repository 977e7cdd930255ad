import { nextBatch } from '@pawl/daemon/mail/hand-over';
import { limits } from '@pawl/schema/limit';
import type { Mail } from '@pawl/schema/mail';
import { expect, test } from 'vitest';

function aMail(id: string, given: Partial<Mail> = {}): Mail {
  const times = { createdAt: 1, deliveredAt: null, readAt: null, ackedAt: null, deadAt: null };
  const none = {
    projectId: null,
    bodyFile: null,
    questionId: null,
    channel: null,
    deadReason: null,
    claimSessionId: null,
  };
  return {
    id,
    fromId: 'a',
    toId: 'b',
    kind: 'message',
    body: id,
    bodyBytes: 1,
    attempts: 0,
    ...times,
    ...none,
    ...given,
  };
}

const names = (mails: Mail[]) => mails.map(({ id }) => id);

test('mail is handed over in batches, in order, up to a number of bytes', () => {
  expect(names(nextBatch([aMail('1'), aMail('2')]))).toEqual(['1', '2']);
  const large = 'x'.repeat(limits.mailPerTurnBytes - 1);
  expect(names(nextBatch([aMail('1', { body: large }), aMail('2'), aMail('3')]))).toEqual(['1', '2']);
  expect(names(nextBatch([aMail('1', { body: `${large}xxx` }), aMail('2')]))).toEqual(['1']);
});

test('a mail whose session failed goes alone, and nothing overtakes it', () => {
  const suspect = aMail('2', { attempts: 1 });
  expect(names(nextBatch([aMail('1'), suspect, aMail('3')]))).toEqual(['1']);
  expect(names(nextBatch([suspect, aMail('3')]))).toEqual(['2']);
  expect(names(nextBatch([suspect, aMail('3')], [aMail('1')]))).toEqual([]);
  expect(names(nextBatch([aMail('3')], [suspect]))).toEqual([]);
});
