import { newId } from '@pawl/schema/id';
import type { Account } from '@pawl/schema/record';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseAccount, exhaustionEnd, reasonToSwitch } from '../../src/accounts/account.ts';

const now = 1_000;
const minuteMs = 60_000;

function accountRecord(name: string, fields: Partial<Account> = {}): Account {
  return {
    id: newId(),
    provider: 'claude',
    name,
    kind: 'api-key',
    email: null,
    baseUrl: null,
    createdAt: 1,
    lastUsedAt: null,
    exhaustedUntil: null,
    strikes: 0,
    keyProxy: null,
    invalidReason: null,
    removedAt: null,
    ...fields,
  };
}

describe('choosing an account', () => {
  const wanted = accountRecord('wanted', { lastUsedAt: 900 });
  const spare = accountRecord('spare', { lastUsedAt: 5 });
  const choose = (fields: Partial<Account>, others: Account[], rotate = true) => {
    const account = { ...wanted, ...fields };
    return chooseAccount({ wanted: account, accounts: [account, ...others], now, rotate });
  };

  test('takes the wanted one while it is usable, even if others were idle longer', () => {
    expect(choose({}, [spare])).toEqual({ kind: 'use', account: wanted });
    expect(choose({ exhaustedUntil: now }, [spare])).toMatchObject({ kind: 'use', account: { name: 'wanted' } });
  });

  test('takes the least recently used other one if the wanted one is exhausted or invalid [S3-36]', () => {
    const never = accountRecord('never');
    for (const fields of [{ exhaustedUntil: now + 1 }, { invalidReason: 'expired' }, { removedAt: 3 }]) {
      expect(choose(fields, [spare])).toEqual({ kind: 'use', account: spare });
      expect(choose(fields, [spare, never])).toEqual({ kind: 'use', account: never });
    }
  });

  test('breaks ties by age, then by name, in any input order', () => {
    const never = accountRecord('zebra', { createdAt: 1 });
    const younger = accountRecord('ant', { createdAt: 2 });
    const twin = accountRecord('bee', { createdAt: 1 });
    const used = accountRecord('cat', { lastUsedAt: 0 });
    for (const others of [
      [never, younger, twin, used],
      [used, twin, younger, never],
      [younger, used, never, twin],
    ])
      expect(choose({ exhaustedUntil: now + 1 }, others)).toEqual({ kind: 'use', account: twin });
    expect(choose({ removedAt: 1 }, [used, younger])).toEqual({ kind: 'use', account: younger });
    const limited = (account: Account) => ({ ...account, exhaustedUntil: now + 7 });
    for (const others of [
      [limited(never), limited(twin)],
      [limited(twin), limited(never)],
    ])
      expect(choose({ removedAt: 1 }, others)).toEqual({ kind: 'wait', until: now + 7, account: limited(twin) });
  });

  test('takes no other one without rotation: waits for an exhausted one, gives up on an invalid one [7.22]', () => {
    expect(choose({ exhaustedUntil: 5_000 }, [spare], false)).toMatchObject({ kind: 'wait', until: 5_000 });
    expect(choose({ invalidReason: 'expired' }, [spare], false)).toEqual({
      kind: 'none',
      reason: 'the account wanted cannot be used: expired',
    });
    expect(choose({ removedAt: 5 }, [], true)).toEqual({ kind: 'none', reason: 'the account wanted was removed' });
  });

  test('waits for a shell account, and never replaces it [7.22]', () => {
    expect(choose({ kind: 'shell', exhaustedUntil: 5_000 }, [spare])).toMatchObject({ kind: 'wait', until: 5_000 });
    expect(choose({ kind: 'shell', invalidReason: 'expired' }, [spare])).toMatchObject({ kind: 'none' });
  });

  test('names the problem of the previous account as the reason to switch', () => {
    expect(reasonToSwitch({ ...wanted, exhaustedUntil: now + 1 }, now)).toBe('usage limit');
    expect(reasonToSwitch({ ...wanted, exhaustedUntil: now + 1, invalidReason: 'x' }, now)).toBe(
      'its login was rejected',
    );
    expect(reasonToSwitch({ ...wanted, removedAt: 3 }, now)).toBe('it was removed');
    expect(reasonToSwitch(wanted, now)).toBe('another one was requested');
  });

  test('never takes an account of another provider or of another shell', () => {
    const foreign = accountRecord('foreign', { provider: 'codex' });
    const shell = accountRecord('shell-0a1b2c3d', { kind: 'shell' });
    expect(choose({ exhaustedUntil: 5_000 }, [foreign, shell])).toMatchObject({ kind: 'wait', until: 5_000 });
    expect(choose({ kind: 'shell' }, [])).toMatchObject({ kind: 'use' });
  });

  test('takes the one that is free first if all are exhausted', () => {
    const sooner = accountRecord('sooner', { exhaustedUntil: 3_000 });
    expect(choose({ exhaustedUntil: 5_000 }, [sooner])).toEqual({ kind: 'wait', until: 3_000, account: sooner });
  });
});

const someAccount = fc
  .record({
    provider: fc.constantFrom('claude', 'codex'),
    kind: fc.constantFrom('api-key', 'token', 'directory', 'shell'),
    lastUsedAt: fc.option(fc.nat(2_000)),
    exhaustedUntil: fc.option(fc.nat(2_000)),
    invalidReason: fc.option(fc.constant('expired')),
    removedAt: fc.option(fc.constant(1), { freq: 5 }),
  })
  .map((fields) => accountRecord(`a${newId().toLowerCase()}`, fields));

test('the choice is always usable or waited for, and never waits without need [S3-35, S3-36]', () => {
  fc.assert(
    fc.property(fc.array(someAccount, { minLength: 1, maxLength: 8 }), fc.boolean(), (accounts, rotate) => {
      const wanted = accounts[0] as Account;
      const choice = chooseAccount({ wanted, accounts, now, rotate });
      // A shell account is not replaced by another.
      const mayRotate = rotate && wanted.kind !== 'shell';
      const usable = accounts.filter(
        (each) =>
          (each === wanted || (mayRotate && each.kind !== 'shell' && each.provider === wanted.provider)) &&
          each.removedAt === null &&
          each.invalidReason === null,
      );
      const free = usable.filter((each) => (each.exhaustedUntil ?? 0) <= now);
      if (free.length > 0) {
        expect(choice.kind).toBe('use');
        const chosen = (choice as { account: Account }).account;
        expect(free).toContain(chosen);
        if (!free.includes(wanted))
          for (const each of free) expect(chosen.lastUsedAt ?? -1).toBeLessThanOrEqual(each.lastUsedAt ?? -1);
        else expect(chosen).toBe(wanted);
      } else if (usable.length > 0) {
        expect(choice).toMatchObject({
          kind: 'wait',
          until: Math.min(...usable.map((each) => each.exhaustedUntil ?? 0)),
        });
      } else expect(choice.kind).toBe('none');
      expect(chooseAccount({ wanted, accounts: accounts.toReversed(), now, rotate })).toEqual(choice);
    }),
  );
});

describe('the end of exhaustion', () => {
  test.each([
    [5_000, 0, 5_000],
    [null, 0, now + 5 * minuteMs],
    [null, 1, now + 10 * minuteMs],
    [null, 5, now + 160 * minuteMs],
    [null, 6, now + 300 * minuteMs],
    [null, 5_000, now + 300 * minuteMs],
    // A time in the past counts as none.
    [now, 0, now + 5 * minuteMs],
    [0, 2, now + 20 * minuteMs],
  ])('until %j after %i strikes is %i', (until, strikes, end) => {
    expect(exhaustionEnd(now, until, strikes)).toBe(end);
  });

  test('is always later than now, and never earlier with more strikes', () => {
    fc.assert(
      fc.property(fc.nat(), fc.option(fc.nat()), fc.nat(40), (at, until, strikes) => {
        const end = exhaustionEnd(at, until, strikes);
        expect(end).toBeGreaterThan(at);
        expect(exhaustionEnd(at, until, strikes + 1)).toBeGreaterThanOrEqual(end);
      }),
    );
  });
});
