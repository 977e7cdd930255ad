import { bytes, duration } from '@pawl/present/amount';
import { printableLine } from '@pawl/present/text';
import { commandClient } from '../../daemon/client.ts';
import type { CommandContext } from '../../context.ts';
import { answers } from '../../daemon/launch.ts';

/** Shows whether the daemon is up, and its state. Exits with 9 if it is down, for scripts. */
export async function status(context: CommandContext): Promise<number> {
  if (!(await answers(context.home))) {
    context.answer(
      'status',
      { up: false, home: context.home.root },
      () => `pawl is not up (home ${context.home.root}); start it with: pawl up`,
    );
    return 9;
  }
  const daemon = await commandClient(context.home).daemon();
  context.answer('status', { up: true, ...daemon }, () =>
    [
      `pawl ${daemon.version} is up for ${duration(Date.now() - daemon.startedAt)} (pid ${daemon.pid}, ${bytes(daemon.memoryBytes)})`,
      `  home      ${daemon.home}`,
      `  http      http://127.0.0.1:${daemon.port}`,
      `  projects  ${daemon.projects}`,
      `  agents    ${daemon.agents.working} working, ${daemon.agents.total} known`,
      `  events    ${daemon.lastSeq}`,
      ...(daemon.trouble === null ? [] : [`  ${context.colours.red('trouble')}   ${printableLine(daemon.trouble)}`]),
    ].join('\n'),
  );
  return 0;
}
