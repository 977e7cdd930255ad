import type { Client } from '@pawl/protocol/client';

/** Observes mail deliveries. */
export type Deliveries = {
  /** When a mail was delivered, on the clock of `performance.now()`. Waits for it. */
  timeOf(mailId: string): Promise<number>;
  /** Waits until this many mails have been delivered in total. */
  count(mails: number): Promise<void>;
  [Symbol.dispose](): void;
};

/** Follows the event log from now on. */
export async function followDeliveries(client: Client): Promise<Deliveries> {
  const { lastSeq } = await client.daemon();
  const closing = new AbortController();
  const times = new Map<string, number>();
  let heard = Promise.withResolvers<void>();
  const following = (async () => {
    for await (const message of client.followEvents(lastSeq, {}, closing.signal)) {
      if (message.type === 'gap') throw new Error('the follower fell behind');
      if (message.event.type !== 'mail.delivered') continue;
      times.set(String(message.event.data['mailId']), performance.now());
      heard.resolve();
      heard = Promise.withResolvers();
    }
    if (!closing.signal.aborted) throw new Error('the event stream ended');
  })();
  // Waiters get the failure; without one it is ignored.
  following.catch(() => undefined);
  const until = async <T>(look: () => T | undefined): Promise<T> => {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      await Promise.race([heard.promise, following]);
    }
  };
  return {
    timeOf: (mailId) => until(() => times.get(mailId)),
    count: async (mails) => void (await until(() => (times.size >= mails ? true : undefined))),
    [Symbol.dispose]: () => closing.abort(),
  };
}
