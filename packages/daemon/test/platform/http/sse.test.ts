import { eventStream } from '@pawl/daemon/platform/http/sse';
import { expect, test } from 'vitest';

const never = () => new Promise<null>(() => {});

test('notices a client that left before the stream started, or later', () => {
  let left = 0;
  const leave = () => void left++;
  eventStream(AbortSignal.abort(), never, leave);
  expect(left).toBe(1);
  const leaving = new AbortController();
  eventStream(leaving.signal, never, leave);
  expect(left).toBe(1);
  leaving.abort();
  expect(left).toBe(2);
});
