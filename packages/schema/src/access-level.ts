/** An agent's access to the machine, narrowest first. `ask` lets a person decide about each call that needs permission. */
export const accessLevels = ['read-only', 'ask', 'full'] as const;
export type AccessLevel = (typeof accessLevels)[number];
