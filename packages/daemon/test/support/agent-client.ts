import { createAuthority } from '@pawl/daemon/platform/http/authority';
import type { Client } from '@pawl/protocol/client';
import { homeClient } from '@pawl/protocol/node/home-client';
import type { Home } from '@pawl/protocol/node/home';
import { readFileSync } from 'node:fs';

/** A client with an agent's own token. */
export function agentClient(home: Home, agentId: string): Client {
  const token = createAuthority(readFileSync(home.token, 'utf8').trim()).agentToken(agentId);
  return homeClient(home, { token });
}
