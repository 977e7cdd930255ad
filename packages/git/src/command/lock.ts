import { createLanes } from '@pawl/core/sessions/turn-taking';

/** Runs one job at a time per key, in order of arrival, within this process. */
export const withLock = createLanes().run;
