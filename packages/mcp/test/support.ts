import type { Client as PawlClient } from '@pawl/protocol/client';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import type { Desk } from '../src/server.ts';
import { createMcpServer } from '../src/server.ts';

/** A desk whose client answers what the test says, and whatever else it is asked not at all. */
export function aDesk(answers: Partial<PawlClient>, desk: Partial<Desk> = {}): Desk {
  return {
    caller: 'agent',
    connect: () => answers as PawlClient,
    here: null,
    scan: null,
    ...desk,
  };
}

/** A client that is connected to a server with this desk, in one process. */
export async function connected(desk: Desk): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1.0.0' });
  await createMcpServer(desk).connect(far);
  await client.connect(near);
  return client;
}
