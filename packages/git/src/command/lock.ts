import { createLanes } from '@pawl/core/sessions/turn-taking';

/** Runs one piece of work at a time per key, in the order of arrival, within this process. */
export const withLock = createLanes().run;
