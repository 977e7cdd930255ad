import manifest from '../../../package.json' with { type: 'json' };
import { proxyLimits } from './proxy-limit.ts';
import { runProxy } from './run.ts';

/** Serves a home until nothing needs it. */
export async function serve(directory: string, socket: string, unusedMs: string | undefined): Promise<void> {
  const { version } = manifest;
  await runProxy({
    directory,
    socket,
    version,
    unusedMs: unusedMs === undefined ? proxyLimits.unusedMs : Number(unusedMs),
  });
}
