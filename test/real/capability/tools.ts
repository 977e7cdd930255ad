import { createAuthority } from '@pawl/daemon/platform/http/authority';
import { homeAt } from '@pawl/protocol/node/home';
import type { AgentView } from '@pawl/protocol/agents/view';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { textOf } from './observe.ts';
import type { Trial } from './trial.ts';

const run = promisify(execFile);

/** MCP servers: the person's, and Pawl's own. */
export function tryTools({ preset, live, shop, capability }: Trial): void {
  let prober: Promise<AgentView> | undefined;
  /** One agent that uses the tools of all servers, for the two tests that look at it. */
  const askedAll = () =>
    (prober ??= shop()
      .work('[[session:probe]] Ask them.')
      .then(({ id }) => shop().ended(id)));

  capability('MCP tools', preset.mcp !== null, async () => {
    const agent = await askedAll();
    expect(agent.run).toMatchObject({ status: 'completed' });
    expect(await textOf(shop(), agent.id)).toContain('persimmon');
  });

  capability('Pawl’s own tools, as itself', preset.mcp !== null, async () => {
    const agent = await askedAll();
    expect(await textOf(shop(), agent.id)).toContain(agent.id);
    const { mails } = await shop().client().listMail();
    const sent = { from: { id: agent.id, alias: agent.alias }, body: 'sent with a tool' };
    expect(mails).toContainEqual(expect.objectContaining(sent));
    // It was passed on from the environment, and written down nowhere but in a session's own file where the CLI passes on nothing.
    const token = createAuthority(readFileSync(homeAt(shop().home).token, 'utf8').trim()).agentToken(agent.id);
    const { stdout } = await run('sh', ['-c', `grep -rlaF -e '${token}' '${shop().home}' || [ $? = 1 ]`]);
    const isWritten = preset.mcp !== null && 'variables' in preset.mcp && preset.mcp.variables === 'written';
    const { sessions } = await shop().client().inspectAgent(agent.id);
    const own = sessions.map(({ directory }) => join(directory, 'mcp.json'));
    expect(stdout.split('\n').filter((path) => path !== '')).toEqual(isWritten ? own : []);
    return isWritten ? 'the CLI passes no variables on: its token stands in the session’s own file, 0600' : undefined;
  });

  const bridged = live === null || live.name === preset.name ? null : live;

  capability('Pawl’s own tools through the bridge', (bridged?.mcp ?? null) !== null, async () => {
    const agent = await shop().work('[[session:whoami]] Who are you?', { provider: bridged?.name ?? '' });
    await shop().ended(agent.id);
    expect(await textOf(shop(), agent.id)).toContain(agent.id);
  });
}
