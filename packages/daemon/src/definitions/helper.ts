/** The definition of adopted agents. Pawl starts no agent with it. */
export const helperDefinition = 'helper-mode';
