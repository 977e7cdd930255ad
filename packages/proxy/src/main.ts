import manifest from '../../../package.json' with { type: 'json' };
import { forwardPort } from './forward.ts';
import { proxyLimits } from './proxy-limit.ts';
import { runProxy } from './run.ts';

const usage = `usage: pawl-proxy serve DIRECTORY SOCKET [UNUSED_MS]
       pawl-proxy forward PORT SOCKET [-- COMMAND [ARGUMENT...]]
`;

/** Runs the proxy, or a forwarder to it, and returns the exit code. */
export async function main([verb, first, socket, ...rest]: string[]): Promise<number> {
  if (verb === 'serve' && first !== undefined && socket !== undefined) {
    const unusedMs = rest[0] === undefined ? proxyLimits.unusedMs : Number(rest[0]);
    await runProxy({ directory: first, socket, version: manifest.version, unusedMs });
    return 0;
  }
  if (verb === 'forward' && /^\d{1,5}$/.test(first ?? '') && socket !== undefined) {
    return forwardPort(Number(first), socket, rest[0] === '--' ? rest.slice(1) : rest);
  }
  process.stderr.write(usage);
  return 2;
}
