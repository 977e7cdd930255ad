import type { WorkMode } from '@pawl/schema/record';

/** Modes whose turn ends with an answer. They have no input files and write no signal file. */
const answeringModes: readonly WorkMode[] = ['coordinate', 'converse', 'answer'];

/** Whether the provider's own result ends a turn in this mode, so that no signal file is required. */
export function endsTurnByResult(mode: WorkMode): boolean {
  return answeringModes.includes(mode);
}
