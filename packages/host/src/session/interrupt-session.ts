import type { Host } from '../host.ts';
import type { SessionAddress } from '../process/family.ts';
import { findFamily } from '../process/family.ts';
import { signalProcess } from '../process/identity.ts';

/**
 * Sends SIGINT once to the agent and the other processes of its group, like Ctrl-C in a terminal. Spares the shim and
 * its helpers. The agent may ignore it. Returns the number of signalled processes.
 */
export async function interruptSession(host: Host, session: SessionAddress): Promise<{ interrupted: number }> {
  const { shim, child, workers } = await findFamily(host, session);
  // An agent may have created its own process group.
  const group = child?.group ?? shim?.pid;
  const foreground = workers.filter((worker) => worker.pid === child?.pid || worker.group === group);
  return { interrupted: foreground.filter((worker) => signalProcess(worker, 'SIGINT')).length };
}
