import manifest from '../../../package.json' with { type: 'json' };

/** The version, as reported to agents. */
export const version: string = manifest.version;
