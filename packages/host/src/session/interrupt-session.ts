import type { SessionAddress } from '../process/family.ts';
import { findFamily } from '../process/family.ts';
import { signalProcess } from '../process/identity.ts';

/**
 * Sends SIGINT once to the agent and the other processes of its group, as Ctrl-C in a terminal would. The shim and its
 * helpers are spared. Whether the agent heeds it is its own affair. Returns how many were signalled.
 */
export async function interruptSession(session: SessionAddress): Promise<{ interrupted: number }> {
  const { shim, child, workers } = await findFamily(session);
  // An agent may have left the shim's group for one of its own.
  const group = child?.group ?? shim?.pid;
  const foreground = workers.filter((worker) => worker.pid === child?.pid || worker.group === group);
  return { interrupted: foreground.filter((worker) => signalProcess(worker, 'SIGINT')).length };
}
