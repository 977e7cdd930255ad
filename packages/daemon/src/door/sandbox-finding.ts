import { canGroup, groupBase, groupFor, makeGroup, removeGroup } from '@pawl/host/session/control-group';
import type { GroupLimits } from '@pawl/host/session/limit-group';
import { enableControllers, limitTogether, removeLimitGroups } from '@pawl/host/session/limit-group';
import type { Machine } from '@pawl/sandbox/bubblewrap';
import { proofLimits, proveSandbox } from '@pawl/sandbox/prove';
import type { Finding } from '@pawl/protocol/daemon/view';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import type { Platform } from '../platform/platform.ts';
import { withoutSandbox } from '../platform/sandboxing.ts';

/** Attacks the sandbox, if sessions use one, and reports each property that does not hold; or why there is no sandbox. */
export async function sandboxFindings(platform: Pick<Platform, 'sandbox' | 'choices'>): Promise<Finding[]> {
  const { mode } = platform.choices.sandbox;
  if (mode === 'off') return [ok('sessions run without a sandbox: `sandbox: off` in config.yaml')];
  const sandbox = await platform.sandbox.probe();
  if (!sandbox.works) {
    const isRequired = mode === 'required';
    const hint = isRequired ? sandbox.hint : `${sandbox.hint} ${withoutSandbox}`;
    const level = isRequired ? 'error' : 'warning';
    return [{ check: 'sandbox', level, message: sandbox.reason, hint, fixable: false }];
  }
  const { proofs, enforced } = await proofsInGroups(sandbox.machine);
  const held = proofs.filter(({ holds }) => holds).length;
  return [
    ok(`bubblewrap ${sandbox.version} withstood ${held} of ${proofs.length} attacks`),
    ...proofs.filter(({ holds }) => !holds).map(({ name, proves }) => broken(name, proves, enforced)),
  ];
}

function ok(message: string): Finding {
  return { check: 'sandbox', level: 'ok', message, fixable: false };
}

/** Attacks the sandbox in the control groups that a session would have. */
async function proofsInGroups(machine: Machine) {
  const marker = `proof-${process.pid}-${randomUUID()}`;
  const base = (await canGroup()) ? groupBase() : null;
  const group = base === null ? null : groupFor(base, marker);
  try {
    const own = group !== null && makeGroup(group) ? group : null;
    if (base !== null) enableControllers(base);
    const { join, enforced } = limitTogether(own, marker, proofLimits);
    const proofs = await proveSandbox(machine, tmpdir(), [...(own === null ? [] : [own]), ...join]);
    return { proofs, enforced };
  } finally {
    if (group !== null) removeGroup(group);
    removeLimitGroups(marker);
  }
}

function broken(name: string, proves: string, enforced: readonly (keyof GroupLimits)[]): Finding {
  const needsGroup =
    (name === 'fork-bomb' && !enforced.includes('processes')) ||
    (name === 'total-memory' && !enforced.includes('memoryBytes'));
  const user = process.getuid?.() === 0 ? '' : ' --user';
  const hint = needsGroup
    ? `Only a control group limits that, and Pawl may not set its limits here. Where systemd runs: \`pawl down && systemd-run${user} --scope -p Delegate=yes pawl up\`.`
    : 'Do not rely on it. Update bubblewrap and the kernel, or run the daemon in a container or a virtual machine.';
  const message = `this does not hold in the sandbox: ${proves}`;
  return { check: 'sandbox', level: 'warning', message, hint, fixable: false };
}
