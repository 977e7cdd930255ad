import { newId } from '@pawl/schema/id';
import {
  countPending,
  countUnread,
  findMail,
  listMail,
  mailById,
  mailOfSession,
  oldestUnread,
  recipientsWaiting,
  unreadDelivered,
  waitingFromSendersOf,
  waitingMail,
} from '@pawl/store/mail/mail';
import { mailbox } from '@pawl/store/mail/mailboxes';
import { test } from 'vitest';
import { addTeam } from '../fixture.ts';
import { databasePath, expectPlans } from '../query-plan.ts';
import type { Question } from '../query-plan.ts';

const id = newId();

/** Queries on a mailbox with a hundred thousand mails; see `query-plan.test.ts`. */
const questions: Question[] = [
  { name: 'a mail by id', ask: (db) => mailById(db, id), plan: ['mail USING INDEX sqlite_autoindex_mail_1 (id=?)'] },
  {
    name: 'a mail by the start of its id',
    ask: (db) => findMail(db, id.slice(0, 8)),
    plan: [
      'mail USING INDEX sqlite_autoindex_mail_1 (id=?)',
      'mail USING INDEX sqlite_autoindex_mail_1 (id>? AND id<?)',
    ],
  },
  {
    name: 'the mail that waits for an agent',
    ask: (db) => waitingMail(db, id, 50),
    plan: ['mail USING INDEX mail_pending (to_id=?)'],
  },
  {
    name: 'the mail that waits for an agent from the senders of some other mail',
    ask: (db) =>
      waitingFromSendersOf(db, id, {
        mails: [
          { fromId: id, kind: 'message' },
          { fromId: id, kind: 'alert' },
        ],
        limit: 50,
      }),
    plan: ['mail USING INDEX mail_pending (to_id=?)'],
  },
  {
    name: 'how much mail waits for an agent',
    ask: (db) => countPending(db, id),
    plan: ['mail USING INDEX mail_pending (to_id=?)'],
  },
  { name: 'for whom mail waits', ask: (db) => recipientsWaiting(db), plan: ['mail USING INDEX mail_pending'] },
  {
    name: 'the mail in the hands of a session',
    ask: (db) => mailOfSession(db, id),
    plan: ['mail USING INDEX mail_claimed (claim_session_id=?)'],
  },
  { name: 'all mail', ask: (db) => listMail(db, { limit: 50 }), plan: ['mail'] },
  {
    name: 'a mailbox',
    ask: (db) => listMail(db, { toId: id, limit: 50 }),
    plan: ['mail USING INDEX mail_to (to_id=?)'],
  },
  {
    name: 'what somebody has sent',
    ask: (db) => listMail(db, { fromId: id, limit: 50 }),
    plan: ['mail USING INDEX mail_from (from_id=?)'],
  },
  {
    name: 'what one has sent another',
    ask: (db) => listMail(db, { toId: id, fromId: id, limit: 50 }),
    plan: ['mail USING INDEX mail_from (from_id=?)'],
  },
  {
    name: 'unread mail',
    ask: (db) => listMail(db, { toId: id, unread: true, limit: 50 }),
    plan: ['mail USING INDEX mail_unread (to_id=?)'],
  },
  {
    name: 'the next page of a mailbox',
    ask: (db) => listMail(db, { toId: id, before: id, limit: 50 }),
    plan: [
      'mail USING INDEX mail_to (to_id=? AND ordinal<?)',
      'mail USING COVERING INDEX sqlite_autoindex_mail_1 (id=?)',
    ],
  },
  {
    name: 'what was read of a mailbox',
    ask: (db) => listMail(db, { toId: id, unread: false, limit: 50 }),
    plan: ['mail USING INDEX mail_to (to_id=?)'],
  },
  {
    name: 'delivered mail that nobody read',
    ask: (db) => unreadDelivered(db, id, 50),
    plan: ['mail USING INDEX mail_unread (to_id=?)'],
  },
  {
    name: 'the next mail that was not read',
    ask: (db) => oldestUnread(db, id),
    plan: ['mail USING INDEX mail_unread (to_id=?)'],
  },
  {
    name: 'the next mail of somebody',
    ask: (db) => oldestUnread(db, id, id),
    plan: ['mail USING INDEX mail_unread (to_id=?)'],
  },
  {
    name: 'the number of unread mails',
    ask: (db) => countUnread(db, id),
    plan: ['mail USING INDEX mail_unread (to_id=?)'],
  },
  {
    name: 'what is remembered of a mailbox',
    ask: (db) => mailbox(db, id),
    plan: ['mailboxes USING INDEX sqlite_autoindex_mailboxes_1 (agent_id=?)'],
  },
];

test('every mail query uses an index [26]', async () => {
  const path = await databasePath((store) => addTeam(store));
  await expectPlans(path, questions);
});
