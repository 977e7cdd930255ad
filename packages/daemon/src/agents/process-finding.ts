import { canGroup, groupBase } from '@pawl/host/session/control-group';
import type { Finding } from '@pawl/protocol/daemon/view';

/** How the processes of sessions and checks are found on this machine, and which are missed. `base` is for tests. */
export async function processFinding(base = groupBase(), isLinux = process.platform === 'linux'): Promise<Finding> {
  const found = { check: 'processes', level: 'ok', fixable: false } as const;
  if (await canGroup(base)) {
    const message = `every process of a session or check is found by its control group, below ${base}`;
    return { ...found, message: `${message}; one that moves to another group itself is not` };
  }
  const marks = `a marker in the environment, by parents${isLinux ? ' and by open output files' : ''}`;
  const lost = `one that clears its environment and leaves its parents${isLinux ? ' and its output' : ''} is not found`;
  const hint = isLinux
    ? 'Control groups need cgroup v2 and the right to make one: `pawl down && systemd-run --user --scope pawl up` gives it where systemd runs.'
    : undefined;
  return {
    ...found,
    message: `processes of sessions and checks are found by ${marks}; ${lost}`,
    ...(hint !== undefined && { hint }),
  };
}
