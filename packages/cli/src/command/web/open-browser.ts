import { spawn } from 'node:child_process';
import { platform } from 'node:os';

/** The system's own way to open an address; null where there is no screen. */
export function browserCommand(
  environment: NodeJS.ProcessEnv = process.env,
  system: NodeJS.Platform = platform(),
): string[] | null {
  if (system === 'darwin') return ['open'];
  if (environment['WSL_DISTRO_NAME']) return ['wslview'];
  return environment['DISPLAY'] || environment['WAYLAND_DISPLAY'] ? ['xdg-open'] : null;
}

/** Opens an address in the person's browser; false if that does not work here. */
export async function openBrowser(url: string): Promise<boolean> {
  const [program, ...words] = browserCommand() ?? [];
  if (program === undefined) return false;
  const child = spawn(program, [...words, url], { stdio: 'ignore', detached: true });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
