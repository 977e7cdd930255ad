import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Mail } from '@pawl/schema/mail';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkBody, everybody, refuseMail, statusOfMail } from '../../src/mail/mail.ts';
import { anAgent, idOf } from '../fixture.ts';

const root = anAgent({ id: idOf('root'), alias: 'root', parentId: null, supervisorId: null, projectId: null });
const lead = anAgent({ id: idOf('lead'), alias: 'lead' });
const peer = anAgent({ id: idOf('peer'), alias: 'peer', parentId: lead.id, supervisorId: lead.id });
const helper = anAgent({
  id: idOf('helper'),
  alias: 'helper',
  kind: 'subagent',
  parentId: lead.id,
  supervisorId: lead.id,
});
const hand = anAgent({ id: idOf('hand'), alias: 'hand', kind: 'subagent', parentId: peer.id, supervisorId: peer.id });
/** A subagent that a person started. */
const own = anAgent({ id: idOf('own'), alias: 'own', kind: 'subagent', parentId: root.id, supervisorId: root.id });
const all = { root, lead, peer, helper, hand, own };
type Name = keyof typeof all;

/** How mail from one to the other is refused; `yes` if it is allowed. */
function verdict(from: Name, to: Name): string {
  try {
    refuseMail(all[from], all[to]);
    return 'yes';
  } catch (error) {
    return error instanceof PawlError ? error.code : String(error);
  }
}

describe('permission to send mail [7.6] [S2-09]', () => {
  test.each<[Name, Name, string]>([
    // From a main: to mains, its parent, the person and its own subagents; not to others' subagents.
    ['lead', 'peer', 'yes'],
    ['peer', 'lead', 'yes'],
    ['peer', 'root', 'yes'],
    ['lead', 'helper', 'yes'],
    ['lead', 'hand', 'forbidden'],
    ['lead', 'own', 'forbidden'],
    // From a subagent: to its main.
    ['helper', 'lead', 'yes'],
    ['helper', 'peer', 'forbidden'],
    ['helper', 'hand', 'forbidden'],
    ['helper', 'root', 'forbidden'],
    ['own', 'root', 'yes'],
    // From a person: to mains.
    ['root', 'lead', 'yes'],
    ['root', 'helper', 'invalid_input'],
    ['root', 'own', 'invalid_input'],
    // Never to oneself.
    ['lead', 'lead', 'invalid_input'],
    ['root', 'root', 'invalid_input'],
  ])('%s to %s: %s', (from, to, expected) => expect(verdict(from, to)).toBe(expected));

  test("after its parent's death, a subagent and its new supervisor may write to each other [S1-23]", () => {
    const orphan = { ...helper, supervisorId: peer.id };
    expect(() => refuseMail(orphan, peer)).not.toThrow();
    expect(() => refuseMail(peer, orphan)).not.toThrow();
    expect(() => refuseMail(orphan, lead)).toThrow(PawlError);
    expect(() => refuseMail(lead, orphan)).toThrow(PawlError);
  });

  test('mail to a dead agent is refused, with the reason [W1-19]', () => {
    for (const from of [root, lead, helper]) {
      expect(() => refuseMail(from, { ...peer, endedAt: 5 })).toThrow(
        expect.objectContaining({ code: 'conflict', message: expect.stringContaining('dead') }),
      );
    }
  });

  test('only the person writes across projects, and everybody reaches the person', () => {
    const stranger = anAgent({ id: idOf('stranger'), projectId: idOf('elsewhere') });
    expect(() => refuseMail(lead, stranger)).toThrow(expect.objectContaining({ code: 'forbidden' }));
    expect(() => refuseMail(root, stranger)).not.toThrow();
    expect(() => refuseMail(stranger, root)).not.toThrow();
  });

  test('an adopted agent sends and receives mail, like any main', () => {
    const found = anAgent({ id: idOf('found'), alias: 'claude-7', adopted: { pid: 7, start: 's', cwd: '/' } });
    for (const from of [root, lead]) expect(() => refuseMail(from, found)).not.toThrow();
    expect(() => refuseMail(found, lead)).not.toThrow();
  });

  test('everybody is every living main of the project except the sender; a subagent may not [W4-05]', () => {
    const dead = anAgent({ id: idOf('dead'), endedAt: 1 });
    const found = anAgent({ id: idOf('found'), adopted: { pid: 1, cwd: '/', provider: 'x' } as never });
    const stranger = anAgent({ id: idOf('stranger'), projectId: idOf('elsewhere') });
    const others = [...Object.values(all), dead, found, stranger];
    expect(everybody(lead, others)).toEqual([peer]);
    expect(everybody(peer, others)).toEqual([lead]);
    expect(everybody(root, others)).toEqual([lead, peer, stranger]);
    expect(() => everybody(helper, others)).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });
});

describe('the status of a mail [S4-16]', () => {
  const times = { deliveredAt: null, readAt: null, ackedAt: null };
  test.each([
    [{}, 'pending'],
    [{ deliveredAt: 0 }, 'delivered'],
    [{ deliveredAt: 0, readAt: 0 }, 'read'],
    [{ deliveredAt: 0, readAt: 0, ackedAt: 0 }, 'acked'],
    [{ deadAt: 5, deadReason: 'nobody there' }, 'pending'],
  ])('%o: %s', (given, expected) => expect(statusOfMail({ ...times, ...given } as Mail)).toBe(expected));
});

describe('the body of a mail [W1-19]', () => {
  test.each(['', ' ', '\n\t '])('%j is empty', (body) => {
    expect(() => checkBody(body)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });
  test('a NUL is refused', () => {
    expect(() => checkBody('a\0b')).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });
  test('its length is counted in bytes, and bounded', () => {
    expect(checkBody('ä'.repeat(3))).toBe(6);
    expect(checkBody('a'.repeat(limits.mailSpillBytes))).toBe(limits.mailSpillBytes);
    expect(() => checkBody('ä'.repeat(limits.mailSpillBytes / 2 + 1))).toThrow(
      expect.objectContaining({ code: 'too_large' }),
    );
  });
  test('any text is either refused or measured as UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (body) => {
        fc.pre(body.trim() !== '' && !body.includes('\0'));
        expect(checkBody(body)).toBe(Buffer.byteLength(body));
      }),
    );
  });
});
