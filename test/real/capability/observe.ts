import { strayProcesses } from '@pawl/host/session/stray';
import { waitUntil } from '@pawl/testing/wait-until';
import { readFileSync } from 'node:fs';
import type { RealWorkshop } from '../workshop.ts';

/** All that an agent has said. */
export async function textOf(shop: RealWorkshop, agentId: string): Promise<string> {
  const events = (await shop.output(agentId)).flatMap((chunk) => chunk.events ?? []);
  return events.map((event) => (event.type === 'text' ? event.text : '')).join('');
}

/** Waits until an agent is in the middle of a tool. */
export async function toolRuns(shop: RealWorkshop, agentId: string): Promise<void> {
  await waitUntil(
    async () => {
      const { agent } = await shop.client().inspectAgent(agentId);
      if (agent.run?.status !== 'running') throw new Error(`it ended: ${agent.detail}`);
      const [session] = (await shop.client().inspectAgent(agentId)).sessions;
      const commands = session === undefined ? [] : commandsOf(session.id);
      return commands.some((command) => command.startsWith('tail '));
    },
    { timeoutMs: 180_000, what: 'a tool to run' },
  );
}

/** The command lines of the processes that belong to a session. */
function commandsOf(marker: string): string[] {
  return strayProcesses(marker).map(({ pid }) => commandLine(pid));
}

/** The environment that a process began with; empty if it is gone. */
export function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    // It has left meanwhile.
    return '';
  }
}
