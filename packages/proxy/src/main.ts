import { parseTarget } from './egress/host-name.ts';
import { forwardPorts } from './forward.ts';

const usage = `usage: pawl-proxy serve DIRECTORY SOCKET [UNUSED_MS]
       pawl-proxy forward PORT SOCKET [HOST:PORT...] [-- COMMAND [ARGUMENT...]]
`;

/**
 * Runs the proxy, or a forwarder to it, and returns the exit code. Every sandboxed session waits for a forwarder, so it
 * loads nothing of the proxy.
 */
export async function main([verb, first, socket, ...rest]: string[]): Promise<number> {
  if (verb === 'serve' && first !== undefined && socket !== undefined) {
    const { serve } = await import('./serve-command.ts');
    await serve(first, socket, rest[0]);
    return 0;
  }
  if (verb === 'forward' && /^\d{1,5}$/.test(first ?? '') && socket !== undefined) {
    const end = rest.indexOf('--');
    const services = (end < 0 ? rest : rest.slice(0, end)).map(parseTarget).filter((each) => each !== null);
    const proxyUrl = process.env['HTTPS_PROXY'] ?? 'http://127.0.0.1';
    const command = end < 0 ? [] : rest.slice(end + 1);
    return forwardPorts({ port: Number(first), socket, services, proxyUrl, command });
  }
  process.stderr.write(usage);
  return 2;
}
