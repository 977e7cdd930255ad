import { mailOfTurn, urgentMail } from '@pawl/core/mail/turn-mail';
import { mailKinds, mailSender } from '@pawl/schema/mail';
import type { Mail, MailKind } from '@pawl/schema/mail';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

const person = 'root';

function aMail(id: string, fromId: string, kind: MailKind): Mail {
  const times = { createdAt: 1, deliveredAt: null, readAt: null, ackedAt: null, deadAt: null };
  const none = { projectId: null, bodyFile: null, questionId: null, channel: null, deadReason: null };
  return { id, fromId, toId: 'to', kind, body: id, bodyBytes: 1, attempts: 0, claimSessionId: null, ...times, ...none };
}

const wakes = ({ kind, fromId }: Mail) =>
  ['question', 'nudge', 'alert'].includes(kind) || (kind === 'message' && fromId === person);

/** The three lists of waiting mail, as the store returns them. */
function listsOf(waiting: readonly Mail[], limit: number) {
  const waking = waiting.filter(wakes).slice(0, limit);
  const senders = new Set(waking.map(mailSender));
  const fromWakers = waiting.filter((mail) => senders.has(mailSender(mail))).slice(0, limit);
  return { oldest: waiting.slice(0, limit), waking, fromWakers };
}

const bySender = (mails: readonly Mail[]) => {
  const found = new Map<string, string[]>();
  for (const mail of mails) {
    const sender = mailSender(mail);
    found.set(sender, [...(found.get(sender) ?? []), mail.id]);
  }
  return found;
};

const someMail = fc
  .array(fc.tuple(fc.constantFrom(person, 'ant', 'bee', 'cat'), fc.constantFrom(...mailKinds)), { maxLength: 40 })
  .map((given) => given.map(([from, kind], index) => aMail(String(index), from, kind)));
const limit = fc.integer({ min: 1, max: 12 });

const ways = {
  push: (waiting: readonly Mail[], most: number) => mailOfTurn(listsOf(waiting, most), most),
  pull: (waiting: readonly Mail[], most: number) => urgentMail(listsOf(waiting, most), most),
};

test.each(Object.entries(ways))('%s: a turn never shows a mail before an earlier one of its sender', (_, choose) => {
  fc.assert(
    fc.property(someMail, limit, (waiting, most) => {
      const given = choose(waiting, most);
      expect(given.length).toBeLessThanOrEqual(most);
      expect(given).toEqual(waiting.filter((mail) => given.includes(mail)));
      const all = bySender(waiting);
      for (const [sender, ids] of bySender(given)) expect(ids).toEqual(all.get(sender)?.slice(0, ids.length));
    }),
    { numRuns: 1_000 },
  );
});

test('over several turns, everything is shown once, each sender in order, and no waking mail is left', () => {
  fc.assert(
    fc.property(someMail, limit, fc.constantFrom('push', 'pull'), (sent, most, way) => {
      let waiting = sent;
      const shown: Mail[] = [];
      while (way === 'push' ? waiting.length > 0 : waiting.some(wakes)) {
        const given = ways[way](waiting, most);
        expect(given.length).toBeGreaterThan(0);
        shown.push(...given);
        waiting = waiting.filter((mail) => !given.includes(mail));
      }
      expect(new Set(shown).size).toBe(shown.length);
      const all = bySender(sent);
      for (const [sender, ids] of bySender(shown)) expect(ids).toEqual(all.get(sender)?.slice(0, ids.length));
    }),
    { numRuns: 1_000 },
  );
});

test("a question from one sender goes before another sender's flood", () => {
  const flood = Array.from({ length: 30 }, (_, index) => aMail(`flood ${index}`, 'ant', 'message'));
  const asked = [aMail('before', 'bee', 'message'), aMail('question', 'bee', 'question')];
  const given = ways.push([...flood, ...asked], 10).map(({ id }) => id);
  expect(given.slice(-2)).toEqual(['before', 'question']);
  expect(given).toHaveLength(10);
});
