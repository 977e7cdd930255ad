import * as z from 'zod';

/** Running calls over HTTP. */
export type Cancellations = {
  /** Registers a call; `signal` aborts when the caller cancels it, and `over` unregisters it. */
  begin(caller: string, requestId: RequestId): { signal: AbortSignal; over(): void };
  /**
   * Cancels the call with this id. Ids are chosen per client: if two clients of one caller use it, neither is
   * cancelled.
   */
  cancel(caller: string, requestId: RequestId): void;
};

export type RequestId = string | number;

const cancelledSchema = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string(), z.number()]) }),
});

/** A cancellation is short; longer messages are skipped. */
const cancelledBytes = 2_048;

/** One per daemon. Without sessions, this is all that connects a cancellation to its call. */
export function createCancellations(): Cancellations {
  const calls = new Map<string, Set<AbortController>>();
  const key = (caller: string, requestId: RequestId) => JSON.stringify([caller, requestId]);
  return {
    begin(caller, requestId) {
      const name = key(caller, requestId);
      const controller = new AbortController();
      const same = calls.get(name) ?? new Set();
      calls.set(name, same.add(controller));
      return {
        signal: controller.signal,
        over() {
          same.delete(controller);
          if (same.size === 0 && calls.get(name) === same) calls.delete(name);
        },
      };
    },
    cancel(caller, requestId) {
      const [first, ...others] = calls.get(key(caller, requestId)) ?? [];
      if (others.length === 0) first?.abort();
    },
  };
}

/** The id of the call that a request cancels, or null. The request remains readable. */
export async function cancelledBy(request: Request): Promise<RequestId | null> {
  if (!(Number(request.headers.get('content-length')) <= cancelledBytes)) return null;
  try {
    const message = cancelledSchema.safeParse(JSON.parse(await request.clone().text()));
    return message.success ? message.data.params.requestId : null;
  } catch {
    // The handler of the request reports what is wrong with it.
    return null;
  }
}
