import type { Mail } from '@pawl/schema/mail';
import { expect, test } from 'vitest';
import { detailOfMail } from '../../src/mail/mail-detail.ts';
import type { Way } from '../../src/mail/mail-way.ts';

const pending = { deliveredAt: null, deadAt: null, deadReason: null, claimSessionId: null };

const rows: [Partial<Mail>, Way, string][] = [
  [{}, { way: 'live' }, 'handed over soon'],
  [{}, { way: 'wake', counts: true }, 'handed over soon'],
  [{}, { way: 'wait', why: 'it was stopped' }, 'queued: calm-fox was stopped; it is delivered when it goes on'],
  [
    {},
    { way: 'wait', why: 'its last run failed' },
    'queued: calm-fox’s last run failed; it is delivered when it goes on',
  ],
  [{}, { way: 'wait', why: 'it fetches its mail' }, 'queued: calm-fox fetches its mail'],
  [{}, { way: 'wait', why: 'a person fetches their mail' }, 'queued: a person fetches their mail'],
  [{}, { way: 'dead', why: 'calm-fox is dead' }, 'not delivered: calm-fox is dead'],
  [{ claimSessionId: 's' }, { way: 'live' }, 'calm-fox has it in front of it and has not shown that it saw it'],
  [{ deliveredAt: 1 }, { way: 'live' }, ''],
  [{ deadAt: 1, deadReason: 'calm-fox is dead' }, { way: 'live' }, 'it never arrives: calm-fox is dead'],
];

test.each(rows)('%o, %o: %s', (given, way, expected) => {
  expect(detailOfMail({ ...pending, ...given } as Mail, 'calm-fox', way)).toBe(expected);
});
