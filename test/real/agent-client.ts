import { createAuthority } from '@pawl/daemon/platform/http/authority';
import type { Client } from '@pawl/protocol/client';
import { homeClient } from '@pawl/protocol/node/home-client';
import { homeAt } from '@pawl/protocol/node/home';
import { readFileSync } from 'node:fs';

/** A client that speaks as an agent of a home, with that agent's own token. */
export function agentClient(root: string, agentId: string): Client {
  const home = homeAt(root);
  const token = createAuthority(readFileSync(home.token, 'utf8').trim()).agentToken(agentId);
  return homeClient(home, { token });
}
