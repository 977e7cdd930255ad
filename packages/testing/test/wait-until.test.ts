import { expect, test } from 'vitest';
import { waitUntil } from '../src/wait-until.ts';

test('waitUntil returns the value of a condition that holds at last', async () => {
  let asked = 0;
  const value = await waitUntil(() => ((asked += 1) < 3 ? undefined : asked), { what: 'three questions' });
  expect(value).toBe(3);
});

test('waitUntil takes a condition that throws as one that does not hold yet', async () => {
  let asked = 0;
  const condition = () => {
    asked += 1;
    if (asked < 2) throw new Error('not yet');
    return 'there';
  };
  expect(await waitUntil(condition, { what: 'the second question' })).toBe('there');
});

test('waitUntil says what it waited for and why it gave up', async () => {
  const waiting = waitUntil(() => false, { timeoutMs: 20, what: 'the moon' });
  await expect(waiting).rejects.toThrow('Waited 20 ms for the moon: the condition was false');
  const failing = waitUntil(() => Promise.reject(new Error('cloudy')), { timeoutMs: 20, what: 'the moon' });
  await expect(failing).rejects.toThrow('cloudy');
});

test('waitUntil looks again when told, also if that happens while it looks', async () => {
  let asked = 0;
  const signals: (() => void)[] = [];
  const condition = async () => {
    asked += 1;
    signals.at(-1)?.();
    return asked === 3;
  };
  await waitUntil(condition, {
    what: 'the third look',
    changed: () => new Promise((resolve) => signals.push(resolve)),
  });
  expect([asked, signals.length]).toEqual([3, 3]);
});
