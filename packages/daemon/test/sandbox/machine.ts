import type { Sandbox } from '@pawl/sandbox/probe';
import { limitTogether, removeLimitGroups } from '@pawl/host/session/limit-group';
import { probeSandbox } from '@pawl/sandbox/probe';
import { test } from 'vitest';

/** The sandbox of this machine. */
export const sandbox: Sandbox = await probeSandbox();

/** Which limits hold for all processes of a sandbox together on this machine. */
export const limited = limitsHere();

function limitsHere() {
  const marker = `probe-${process.pid}`;
  const { enforced } = limitTogether(null, marker, { processes: 8, memoryBytes: 2 ** 30 });
  removeLimitGroups(marker);
  // The kernel itself limits the processes of everybody but root.
  const processes = enforced.includes('processes') || process.getuid?.() !== 0;
  return { processes, memory: enforced.includes('memoryBytes') };
}

/** A test that needs a working sandbox; its title says why it is skipped where there is none. */
export function sandboxTest(title: string, body: () => Promise<void>): void {
  if (sandbox.works) test(title, body);
  else test.skip(`${title} (skipped: ${sandbox.reason})`, body);
}
