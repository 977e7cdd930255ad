import manifest from '../../../package.json' with { type: 'json' };
import { join } from 'node:path';

/** True in the published bundle, where every program is one file in one directory. */
declare const PAWL_BUNDLE: boolean | undefined;
const bundled = typeof PAWL_BUNDLE !== 'undefined' && PAWL_BUNDLE;

const here = import.meta.dirname;
const file = (built: string, source: string) => join(here, bundled ? built : join('..', '..', source));

/** The programs that Pawl starts, from wherever this code runs; the lists are arguments for Node. */
export const programs = {
  /** A command of its own, as people and agents call it; from source, the built one stands in. */
  pawl: file('pawl.mjs', '../dist/pawl.mjs'),
  /** A small nursery: what a burst of requests leaves behind is collected soon, instead of staying as memory. */
  daemon: ['--max-semi-space-size=2', file('daemon.mjs', 'daemon/src/main.ts')],
  // What is started for every session is the built one too: from source it takes four times as long.
  scriptedAgent: [file('scripted-agent.mjs', '../dist/scripted-agent.mjs')],
  bridge: [file('bridge.mjs', '../dist/bridge.mjs')],
  modelServer: [file('model-server.mjs', '../dist/model-server.mjs')],
  /** No program but a directory: the definitions that Pawl brings along. */
  builtInDefinitions: file('agents', 'daemon/agents'),
  /** The same: the texts that prompts are made of. */
  prompts: file('prompts', 'daemon/prompts'),
};

/** The program's version. */
export const version: string = manifest.version;
