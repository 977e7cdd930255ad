/** The definition of agents that Pawl did not start. None is started with it. */
export const helperDefinition = 'helper-mode';
