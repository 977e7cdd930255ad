import { count } from '@pawl/present/amount';
import { PawlError } from '@pawl/schema/error';
import { existsSync } from 'node:fs';
import { commandClient } from '../../daemon/client.ts';
import type { CommandContext } from '../../context.ts';
import { everyAgent } from '../../agent/every-agent.ts';
import { answers } from '../../daemon/launch.ts';

const leaveMs = 15_000;
const pollMs = 20;

/** Stops the daemon. Agents keep running, and the next daemon adopts them. */
export async function down(context: CommandContext): Promise<number> {
  if (!(await answers(context.home))) {
    context.answer('daemon', { stopped: false }, () => 'pawl was not up');
    return 0;
  }
  const client = commandClient(context.home);
  const { agents } = await everyAgent(client, {});
  const working = agents.filter(({ run }) => run?.status === 'running').length;
  const { pid } = await client.stopDaemon();
  const deadline = performance.now() + leaveMs;
  // Removing its file is its last action. The process may remain as a zombie.
  while (existsSync(context.home.daemonFile)) {
    if (performance.now() > deadline) {
      throw new PawlError('timeout', `The daemon (pid ${pid}) has not exited after ${leaveMs / 1000} s.`, {
        hint: `See its log in ${context.home.logs}; ending it with kill is safe.`,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  context.answer('daemon', { stopped: true, pid, working }, () => {
    const rest =
      working === 0 ? '' : `; ${count(working, 'agent')} at work ${working === 1 ? 'keeps' : 'keep'} running`;
    return `pawl is down (pid ${pid})${rest}`;
  });
  return 0;
}
