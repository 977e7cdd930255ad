import { spawn } from 'node:child_process';
import { engineLimits } from '../limit.ts';

export type ProgramEnd = { code: number | null; stdout: string; stderr: string; cut: boolean };

/** Runs a helper program such as git; null if it does not exist. Its output and time are bounded. */
export function runProgram(
  command: string,
  words: string[],
  { cwd, signal }: { cwd: string; signal: AbortSignal },
): Promise<ProgramEnd | null> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(engineLimits.searchMs)]);
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const output: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
    let bytes = 0;
    let cut = false;
    const stop = () => {
      cut = true;
      child.kill('SIGKILL');
    };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= engineLimits.searchOutputBytes) output[name].push(chunk);
        else stop();
      });
    }
    bounded.addEventListener('abort', stop, { once: true });
    child.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? resolve(null) : reject(error)));
    child.on('close', (code) => {
      bounded.removeEventListener('abort', stop);
      const text = (name: 'stdout' | 'stderr') => Buffer.concat(output[name]).toString('utf8');
      resolve({ code, stdout: text('stdout'), stderr: text('stderr'), cut });
    });
  });
}
