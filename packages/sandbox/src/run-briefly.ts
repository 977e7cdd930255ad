import { spawn } from 'node:child_process';
import { messageOf } from '@pawl/schema/error';
import { sandboxBounds } from './sandbox-limit.ts';

export type BriefEnd = {
  /** Null if it did not start, or was killed. */
  code: number | null;
  /** The beginning of stdout and stderr. */
  output: string;
  /** True if a process that it started held its output open after it ended. */
  survived: boolean;
};

type Command = { command: string; arguments: readonly string[]; environment?: Readonly<Record<string, string>> };

/** Runs a command that takes moments, and kills it if it takes longer. */
export function runBriefly({ command, arguments: words, environment = {} }: Command): Promise<BriefEnd> {
  return new Promise((resolve) => {
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', ...environment, LC_ALL: 'C' };
    const child = spawn(command, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const limit = setTimeout(() => child.kill('SIGKILL'), sandboxBounds.probeMs);
    let output = '';
    const take = (part: Buffer) => {
      if (output.length < sandboxBounds.probeOutputBytes) output += part.toString();
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    const settle = (end: Pick<BriefEnd, 'code' | 'survived'>) => {
      clearTimeout(limit);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ ...end, output });
    };
    child.on('error', (error) => {
      output += messageOf(error);
      settle({ code: null, survived: false });
    });
    child.on('exit', (code) => {
      const survivor = setTimeout(() => settle({ code, survived: true }), sandboxBounds.survivorMs);
      child.on('close', () => {
        clearTimeout(survivor);
        settle({ code, survived: false });
      });
    });
  });
}
