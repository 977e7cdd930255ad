import { expect, test } from 'vitest';
import { cancelledBy, createCancellations } from '../src/cancellation.ts';

test('a call is cancelled by its own client', () => {
  const calls = createCancellations();
  const one = calls.begin('a', 1);
  calls.cancel('b', 1);
  calls.cancel('a', 2);
  calls.cancel('a', '1');
  expect(one.signal.aborted).toBe(false);
  calls.cancel('a', 1);
  expect(one.signal.aborted).toBe(true);
});

test('two clients with the same request id cannot be cancelled until one of them ends', () => {
  const calls = createCancellations();
  const [one, other] = [calls.begin('a', 1), calls.begin('a', 1)];
  calls.cancel('a', 1);
  expect([one.signal.aborted, other.signal.aborted]).toEqual([false, false]);
  one.over();
  one.over();
  calls.cancel('a', 1);
  expect([one.signal.aborted, other.signal.aborted]).toEqual([false, true]);
  other.over();
  calls.cancel('a', 1);
});

test.each<[string, number | string | null]>([
  ['{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}', 7],
  ['{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}', 'x'],
  ['{"jsonrpc":"2.0","method":"notifications/cancelled"}', null],
  ['{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}', null],
  ['{"method":"notifications/other","params":{"requestId":7}}', null],
  ['[{"method":"notifications/cancelled","params":{"requestId":7}}]', null],
  ['{"method":', null],
  [`{"method":"notifications/cancelled","params":{"requestId":7,"reason":"${'x'.repeat(3_000)}"}}`, null],
])('%.60s cancels %s, and can still be read', async (body, id) => {
  const headers = { 'content-length': String(body.length) };
  const request = new Request('http://localhost/mcp', { method: 'POST', body, headers });
  expect(await cancelledBy(request)).toBe(id);
  expect(await request.text()).toBe(body);
});
