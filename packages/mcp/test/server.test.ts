import type { Client as PawlClient } from '@pawl/protocol/client';
import type { Whoami } from '@pawl/protocol/daemon/view';
import { errorCodes, PawlError } from '@pawl/schema/error';
import type { ErrorCode } from '@pawl/schema/error';
import { waitUntil } from '@pawl/testing/wait-until';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { mcpLimits } from '../src/mcp-limit.ts';
import { callerAccess, connected } from './support.ts';

const own = { caller: 'agent', agent: { id: 'AAAAAAAAAAAAAAAAAAAAAA', alias: 'brave-otter' } } as Whoami;
const away = new PawlError('daemon_unreachable', 'The daemon does not answer.', { hint: 'pawl up' });

afterEach(() => {
  vi.useRealTimers();
});

describe('failures', () => {
  test.each(Object.keys(errorCodes).filter((code) => code !== 'daemon_unreachable'))(
    '%s is a tool error, with what to do next',
    async (code) => {
      const failing = () => Promise.reject(new PawlError(code as ErrorCode, 'It went wrong.', { hint: 'Do this.' }));
      const client = await connected(callerAccess({ whoami: failing }));
      expect(await client.callTool({ name: 'whoami', arguments: {} })).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: `${code}: It went wrong.\nDo this.` }],
        structuredContent: { error: { code, message: 'It went wrong.', hint: 'Do this.' } },
      });
    },
  );

  test('an unexpected error is one, too', async () => {
    const client = await connected(
      callerAccess({ whoami: () => Promise.reject(new TypeError('x is not a function')) }),
    );
    const { structuredContent, isError } = await client.callTool({ name: 'whoami', arguments: {} });
    expect([isError, structuredContent]).toEqual([
      true,
      { error: { code: 'internal', message: 'x is not a function' } },
    ]);
  });
});

describe('an unreachable daemon', () => {
  test('is waited for, and asked with the same key', async () => {
    const keys: string[] = [];
    const sendMail: PawlClient['sendMail'] = async (_body, key) => {
      keys.push(key);
      if (keys.length < 3) throw away;
      return { mails: [] };
    };
    const client = await connected(callerAccess({ sendMail }));
    expect(await client.callTool({ name: 'send', arguments: { to: 'a', body: 'b' } })).toMatchObject({
      structuredContent: { sent: [] },
    });
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });

  test('is not waited for after other errors', async () => {
    let asked = 0;
    const sendMail = () => Promise.reject(new PawlError('conflict', `${++asked}`));
    const client = await connected(callerAccess({ sendMail }));
    await client.callTool({ name: 'send', arguments: { to: 'a', body: 'b' } });
    expect(asked).toBe(1);
  });

  test('does not use up the time of a wait', async () => {
    let opened = 0;
    const client = await connected(
      callerAccess({
        whoami: async () => own,
        async *listen() {
          opened += 1;
          if (opened > 1) yield { question: 'still there?', from: own.agent, conversationId: 'c' } as never;
        },
      }),
    );
    expect(await client.callTool({ name: 'listen', arguments: {} })).toMatchObject({
      structuredContent: { question: 'still there?' },
    });
    expect(opened).toBe(2);
  });
});

describe('a call that waits', () => {
  /** Listens until it is aborted, and reports when it has started. */
  function patient() {
    const begun = Promise.withResolvers<AbortSignal>();
    async function* listen(_agent: string, signal = AbortSignal.abort()): AsyncGenerator<never> {
      begun.resolve(signal);
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      yield* [];
    }
    return { begun: begun.promise, listen };
  }

  test('ends when it is cancelled', async () => {
    const { begun, listen } = patient();
    const client = await connected(callerAccess({ whoami: async () => own, listen }));
    const leaving = new AbortController();
    const given = expect(
      client.callTool({ name: 'listen', arguments: { timeout_seconds: 600 } }, { signal: leaving.signal }),
    ).rejects.toThrow();
    const signal = await begun;
    expect(signal.aborted).toBe(false);
    leaving.abort();
    await given;
    await waitUntil(() => signal.aborted, { what: 'the wait to be given up' });
  });

  test('ends with its timeout, which is shorter than clients usually wait', async () => {
    const { listen } = patient();
    const client = await connected(callerAccess({ whoami: async () => own, listen }));
    const { structuredContent } = await client.callTool({ name: 'listen', arguments: { timeout_seconds: 0.01 } });
    expect(structuredContent).toMatchObject({ question: null });
    expect(mcpLimits.waitSeconds).toBeLessThan(60);
  });

  test('sends progress to a client that asked for it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { begun, listen } = patient();
    const client = await connected(callerAccess({ whoami: async () => own, listen }));
    const told: number[] = [];
    const leaving = new AbortController();
    const call = client.callTool(
      { name: 'listen', arguments: { timeout_seconds: 600 } },
      { signal: leaving.signal, onprogress: ({ progress }) => void told.push(progress) },
    );
    const given = expect(call).rejects.toThrow();
    await begun;
    await vi.advanceTimersByTimeAsync(2 * mcpLimits.progressMs);
    expect(told).toEqual([1, 2]);
    leaving.abort();
    await given;
  });
});

test.each([
  { end: 'answered', answer: 'yes', to: own.agent },
  { end: 'expired', answer: null, reason: 'too late', to: own.agent },
])('that a question was $end counts as shown only after it was given', async (how) => {
  const story: string[] = [];
  const ended = how as never;
  const shown = Promise.withResolvers<void>();
  const client = await connected(
    callerAccess({
      async *followQuestion() {
        yield ended;
      },
      noteShown: async () => {
        story.push('shown');
        shown.resolve();
        return {} as never;
      },
    }),
  );
  await client.callTool({ name: 'ask', arguments: { conversation_id: 'c' } }).then(() => story.push('given'));
  await shown.promise;
  expect(story).toEqual(['given', 'shown']);
});
