import type { WorkMode } from '@pawl/schema/record';

/** Modes of agents that persist and take one turn after another. They have no assignment and write no signal file. */
const lastingModes: readonly WorkMode[] = ['coordinate', 'converse'];

/** Whether the provider's own result ends a turn in this mode, so that no signal file is required. */
export function endsTurnByResult(mode: WorkMode): boolean {
  return lastingModes.includes(mode);
}
