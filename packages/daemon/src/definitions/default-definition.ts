/** The default definition. */
export const defaultDefinition = 'worker';
