import { proveSandbox } from '@pawl/sandbox/prove';
import type { Finding } from '@pawl/protocol/daemon/view';
import { tmpdir } from 'node:os';
import type { Platform } from '../platform/platform.ts';

/** Attacks the sandbox, if sessions use one, and reports each property that does not hold; or why there is no sandbox. */
export async function sandboxFindings(platform: Pick<Platform, 'sandbox' | 'choices'>): Promise<Finding[]> {
  const { mode } = platform.choices.sandbox;
  if (mode === 'off') return [ok('sessions run without a sandbox: `sandbox: off` in config.yaml')];
  const sandbox = await platform.sandbox.probe();
  if (!sandbox.works) {
    const { reason: message, hint } = sandbox;
    return [{ check: 'sandbox', level: mode === 'required' ? 'error' : 'warning', message, hint, fixable: false }];
  }
  const proofs = await proveSandbox(sandbox.machine, tmpdir());
  const held = proofs.filter(({ holds }) => holds).length;
  return [
    ok(`bubblewrap ${sandbox.version} withstood ${held} of ${proofs.length} attacks`),
    ...proofs.filter(({ holds }) => !holds).map(({ name, proves }) => broken(name, proves)),
  ];
}

function ok(message: string): Finding {
  return { check: 'sandbox', level: 'ok', message, fixable: false };
}

function broken(name: string, proves: string): Finding {
  const isRoot = process.getuid?.() === 0;
  const hint =
    name === 'fork-bomb' && isRoot
      ? 'The kernel limits the processes of root only in a control group. Run Pawl as another user.'
      : 'Do not rely on it. Update bubblewrap and the kernel, or run the daemon in a container or a virtual machine.';
  const message = `this does not hold in the sandbox: ${proves}`;
  return { check: 'sandbox', level: 'warning', message, hint, fixable: false };
}
