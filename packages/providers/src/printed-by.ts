import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';

/** Inherited variables: no secrets. */
const passedOn = ['PATH', 'HOME', 'USER', 'LANG', 'TMPDIR'];

/** The first bytes that a program prints, or what there is at the timeout. Then ends it and its children. */
export function printedBy(
  [program, ...args]: [string, ...string[]],
  limit: { environment: NodeJS.ProcessEnv; timeoutMs: number; bytes: number },
): Promise<string> {
  const env = Object.fromEntries(passedOn.map((name) => [name, limit.environment[name]]));
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      // Not in a repository, whose settings it might read.
      cwd: tmpdir(),
      env: { ...env, CI: '1', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    let text = '';
    const tell = () => {
      clearTimeout(timer);
      resolve(text.slice(0, limit.bytes));
    };
    // Its output is still open, so the group is alive and its number is not reused.
    const end = () => {
      endGroup(child.pid);
      tell();
    };
    const timer = setTimeout(end, limit.timeoutMs);
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (part: string) => {
      text += part;
      if (text.length >= limit.bytes) end();
    });
    child.on('error', tell);
    child.on('close', tell);
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}
