import type { Mail } from '@pawl/schema/mail';
import { expect, test } from 'vitest';
import { detailOfMail } from '../../src/mail/mail-detail.ts';
import type { Way } from '../../src/mail/mail-way.ts';

const pending = { deliveredAt: null, deadAt: null, deadReason: null, claimSessionId: null };

const rows: [Partial<Mail>, Way, string][] = [
  [{}, { way: 'live' }, 'delivered soon'],
  [{}, { way: 'wake', counts: true }, 'delivered soon'],
  [{}, { way: 'wait', why: 'it was stopped' }, 'queued: calm-fox was stopped; it is delivered when it resumes'],
  [
    {},
    { way: 'wait', why: 'its last run failed' },
    'queued: calm-fox’s last run failed; it is delivered when it resumes',
  ],
  [{}, { way: 'wait', why: 'it fetches its mail' }, 'queued: calm-fox fetches its mail'],
  [{}, { way: 'wait', why: 'a person fetches their mail' }, 'queued: a person fetches their mail'],
  [{}, { way: 'dead', why: 'calm-fox is dead' }, 'not delivered: calm-fox is dead'],
  [{ claimSessionId: 's' }, { way: 'live' }, 'calm-fox was given it and has not confirmed it'],
  [{ deliveredAt: 1 }, { way: 'live' }, ''],
  [{ deadAt: 1, deadReason: 'calm-fox is dead' }, { way: 'live' }, 'it will never arrive: calm-fox is dead'],
];

test.each(rows)('%o, %o: %s', (given, way, expected) => {
  expect(detailOfMail({ ...pending, ...given } as Mail, 'calm-fox', way)).toBe(expected);
});
