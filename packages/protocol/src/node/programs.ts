import { join } from 'node:path';
import manifest from '../../../../package.json' with { type: 'json' };

/** True in the published bundle, where all programs are files in one directory. */
declare const PAWL_BUNDLE: boolean | undefined;
const bundled = typeof PAWL_BUNDLE !== 'undefined' && PAWL_BUNDLE;

const here = import.meta.dirname;
const file = (built: string, source: string) => join(here, bundled ? built : join('..', '..', '..', source));

/** The programs that Pawl starts; lists are arguments for Node. */
export const programs = {
  /** The command for people and agents; from source, the built one is used. */
  pawl: file('pawl.mjs', '../dist/pawl.mjs'),
  /** A small nursery: garbage of a burst of requests is collected soon. */
  daemon: ['--max-semi-space-size=2', file('daemon.mjs', 'daemon/src/main.ts')],
  // Started for every session, so the built one is used: from source it takes four times as long.
  scriptedAgent: [file('scripted-agent.mjs', '../dist/scripted-agent.mjs')],
  bridge: [file('bridge.mjs', '../dist/bridge.mjs')],
  /** A turn is short and waits for its model: a small nursery and one helper thread save 4 MB of each. */
  engine: ['--max-semi-space-size=1', '--v8-pool-size=1', file('pawl-engine.mjs', '../dist/pawl-engine.mjs')],
  /** The credential and egress proxy of a home, and the forwarder to its socket. */
  proxy: ['--max-semi-space-size=2', file('proxy.mjs', '../dist/proxy.mjs')],
  modelServer: [file('model-server.mjs', '../dist/model-server.mjs')],
  /** A directory, not a program: the built-in definitions. */
  builtInDefinitions: file('agents', 'daemon/agents'),
  /** A directory, too: the prompt texts. */
  prompts: file('prompts', 'daemon/prompts'),
  /** And the built page. */
  page: file('web', '../dist/web'),
};

export const version: string = manifest.version;
