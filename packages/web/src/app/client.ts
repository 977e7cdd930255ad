import type { Client } from '@pawl/protocol/client';
import { createClient } from '@pawl/protocol/client';
import { fetchTransport } from '@pawl/protocol/fetch-transport';
import { pageKeyHeader } from '@pawl/protocol/web/page-key';
import { keepPageKey, readPageKey, takeCode } from './page-key.ts';

/** The client of this page's daemon, with the session of this browser. */
export const client: Client = createClient(
  fetchTransport({
    url: location.origin,
    headers(): Record<string, string> {
      const key = readPageKey();
      return key === null ? {} : { [pageKeyHeader]: key };
    },
    // Looked up at each call: a browser's `fetch` does not work without its window.
    fetch: (request) => fetch(request),
  }),
);

/** Exchanges the code of the address, if there is one, for a session. */
export async function signIn(): Promise<void> {
  const code = takeCode();
  if (code !== null) keepPageKey((await client.openWebSession(code)).key);
}
