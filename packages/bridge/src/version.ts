import manifest from '../../../package.json' with { type: 'json' };

/** The program's version, which agents are told. */
export const version: string = manifest.version;
