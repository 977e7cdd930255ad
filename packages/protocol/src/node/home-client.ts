import type { Client } from '../client.ts';
import { createClient } from '../client.ts';
import type { RequestOptions } from '../requests.ts';
import type { Home } from './home.ts';
import { socketTransport } from './socket-transport.ts';

/** A client for the daemon of one home, over its unix socket. */
export function homeClient(home: Home, options?: RequestOptions): Client {
  return createClient(socketTransport(home), options);
}
