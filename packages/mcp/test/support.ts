import type { Client as PawlClient } from '@pawl/protocol/client';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import type { CallerAccess } from '../src/server.ts';
import { createMcpServer } from '../src/server.ts';

/** A access whose client answers what the test says, and whatever else it is asked not at all. */
export function callerAccess(answers: Partial<PawlClient>, access: Partial<CallerAccess> = {}): CallerAccess {
  return {
    caller: 'agent',
    connect: () => answers as PawlClient,
    here: null,
    scan: null,
    ...access,
  };
}

/** A client that is connected to a server with this access, in one process. */
export async function connected(access: CallerAccess): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1.0.0' });
  await createMcpServer(access).connect(far);
  await client.connect(near);
  return client;
}
