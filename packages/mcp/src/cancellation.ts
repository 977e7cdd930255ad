import * as z from 'zod';

/** The calls over HTTP that are being answered now. */
export type Cancellations = {
  /** Notes a call of somebody; `signal` is aborted when they cancel it, and `over` forgets it. */
  begin(caller: string, requestId: RequestId): { signal: AbortSignal; over(): void };
  /** Ends the call of this number. Numbers are each client's own: where two of the same caller have it, neither is ended. */
  cancel(caller: string, requestId: RequestId): void;
};

export type RequestId = string | number;

const cancelledSchema = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string(), z.number()]) }),
});

/** A message that cancels something has a few words; longer ones are not looked at. */
const cancelledBytes = 2_048;

/** Keeps count for one daemon. Without sessions a cancellation comes to a server that knows nothing of the call but this. */
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

/** The number of the call that a request cancels; null when it says something else. The request can still be read. */
export async function cancelledBy(request: Request): Promise<RequestId | null> {
  if (!(Number(request.headers.get('content-length')) <= cancelledBytes)) return null;
  try {
    const message = cancelledSchema.safeParse(JSON.parse(await request.clone().text()));
    return message.success ? message.data.params.requestId : null;
  } catch {
    // Whoever answers it says what is wrong with it.
    return null;
  }
}
