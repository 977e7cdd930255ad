import { test } from 'vitest';
import type { Sandbox } from '../../src/probe.ts';
import { probeSandbox } from '../../src/probe.ts';

/** The sandbox of this machine. */
export const sandbox: Sandbox = await probeSandbox();

/** A test that needs a working sandbox; its title says why it is skipped where there is none. */
export function sandboxTest(title: string, body: () => Promise<void>): void {
  if (sandbox.works) test(title, body);
  else test.skip(`${title} (skipped: ${sandbox.reason})`, body);
}
