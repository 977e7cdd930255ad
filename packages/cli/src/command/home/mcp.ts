import { serveOverStdio } from '@pawl/mcp/stdio';
import type { Client } from '@pawl/protocol/client';
import { homeClient } from '@pawl/protocol/node/home-client';
import type { Home } from '@pawl/protocol/node/home';
import type { Roster } from '@pawl/roster/roster';
import { PawlError } from '@pawl/schema/error';
import { printableLine } from '@pawl/present/text';

/**
 * Serves the verbs as MCP tools on stdin and stdout, with the agent's own token, or, fewer of them, with the person's.
 * In an agent's session without its token, refuses everything.
 */
export async function mcp(
  home: Home,
  options: { agent?: string },
  environment: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  const token = environment['PAWL_AGENT_TOKEN'];
  const caller = token || options.agent !== undefined ? 'agent' : 'person';
  const connect = (signal: AbortSignal): Client => {
    if (options.agent !== undefined && !token) throw noToken();
    return homeClient(home, { signal, ...(token ? { token } : {}) });
  };
  await serveOverStdio(
    {
      caller,
      connect,
      here: process.cwd(),
      scan: caller === 'agent' ? null : (path) => lookAround(home, path, environment),
    },
    (text) => void process.stderr.write(`pawl mcp: ${printableLine(text)}\n`),
  );
  return 0;
}

function noToken(): PawlError {
  return new PawlError('unauthorized', 'PAWL_AGENT_TOKEN did not reach this server, so it cannot act for anybody.', {
    hint: 'Use the command `pawl` in your shell instead: it has the same verbs.',
  });
}

/** Finds coding agents in a checkout, without the one that this process belongs to. */
async function lookAround(
  { worktrees, programs }: Home,
  path: string,
  environment: NodeJS.ProcessEnv,
): Promise<Roster> {
  const [{ lookForOthers, systemProbe }, { readPrograms }, { projectRoot }] = await Promise.all([
    import('@pawl/roster/probe'),
    import('@pawl/roster/programs-file'),
    import('@pawl/roster/project-root'),
  ]);
  return lookForOthers(systemProbe(environment, readPrograms(programs).programs), projectRoot(path), [worktrees]);
}
