import type { Sandbox } from '@pawl/sandbox/probe';
import { probeSandbox } from '@pawl/sandbox/probe';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'vitest';

/** The sandbox of this machine. */
export const sandbox: Sandbox = await probeSandbox();

/**
 * Which limits hold for all processes of a sandbox together on this machine, found without the code that sets them: root
 * may use the top of a hierarchy of cgroup v1, and the kernel itself limits the processes of everybody else.
 */
export const limited = { processes: !isRoot() || isAtTop('pids'), memory: isRoot() && isAtTop('memory') };

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function isAtTop(controller: string): boolean {
  const own = existsSync('/proc/self/cgroup') ? readFileSync('/proc/self/cgroup', 'latin1') : '';
  return own.split('\n').some((line) => /^\d+:([^:]+):\/$/.exec(line)?.[1]?.split(',').includes(controller));
}

/** A test that needs a working sandbox; its title says why it is skipped where there is none. */
export function sandboxTest(title: string, body: () => Promise<void>): void {
  if (sandbox.works) test(title, body);
  else test.skip(`${title} (skipped: ${sandbox.reason})`, body);
}
