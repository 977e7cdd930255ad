import manifest from '../../../package.json' with { type: 'json' };
import { join } from 'node:path';

/** True in the published bundle, where every program is one file in one directory. */
declare const PAWL_BUNDLE: boolean | undefined;
const bundled = typeof PAWL_BUNDLE !== 'undefined' && PAWL_BUNDLE;

const here = import.meta.dirname;
const file = (built: string, source: string) => join(here, bundled ? built : join('..', '..', source));

/** The programs that Pawl starts: arguments for Node, from wherever this code runs. */
export const programs = {
  pawl: [file('pawl.mjs', 'cli/src/main.ts')],
  daemon: [file('daemon.mjs', 'daemon/src/main.ts')],
  scriptedAgent: [file('scripted-agent.mjs', 'testing/src/scripted-agent/bin.ts')],
};

/** The program's version. */
export const version: string = manifest.version;
