import type { Mail } from '@pawl/schema/mail';
import { expect, test } from 'vitest';
import { detailOfMail } from '../../src/mail/mail-detail.ts';
import type { DeliveryRoute } from '../../src/mail/delivery-route.ts';

const pending = { deliveredAt: null, deadAt: null, deadReason: null, claimSessionId: null };

const rows: [Partial<Mail>, DeliveryRoute, string][] = [
  [{}, { kind: 'live' }, 'delivered soon'],
  [{}, { kind: 'wake', counts: true }, 'delivered soon'],
  [{}, { kind: 'wait', why: 'it was stopped' }, 'queued: calm-fox was stopped; it is delivered when it resumes'],
  [
    {},
    { kind: 'wait', why: 'its last run failed' },
    'queued: calm-fox’s last run failed; it is delivered when it resumes',
  ],
  [{}, { kind: 'wait', why: 'it fetches its mail' }, 'queued: calm-fox fetches its mail'],
  [{}, { kind: 'wait', why: 'a person fetches their mail' }, 'queued: a person fetches their mail'],
  [{}, { kind: 'dead', why: 'calm-fox is dead' }, 'not delivered: calm-fox is dead'],
  [{ claimSessionId: 's' }, { kind: 'live' }, 'calm-fox was given it and has not confirmed it'],
  [{ deliveredAt: 1 }, { kind: 'live' }, ''],
  [{ deadAt: 1, deadReason: 'calm-fox is dead' }, { kind: 'live' }, 'it will never arrive: calm-fox is dead'],
];

test.each(rows)('%o, %o: %s', (given, route, expected) => {
  expect(detailOfMail({ ...pending, ...given } as Mail, 'calm-fox', route)).toBe(expected);
});
