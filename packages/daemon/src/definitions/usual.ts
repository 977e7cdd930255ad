/** What an agent is that nobody said anything else about. */
export const usualDefinition = 'worker';
