import { waitUntil } from '@pawl/testing/wait-until';
import { spawn, spawnSync } from 'node:child_process';

/** A command in a terminal of its own. */
export type PseudoTerminal = {
  type(keys: string): void;
  /** Everything that was shown so far, with escape sequences. */
  shown(): string;
  /** Waits until a text is shown, from now on or since the last one that was waited for. */
  sees(text: string): Promise<void>;
  /** The exit code, once it has left. */
  exit: Promise<number | null>;
} & AsyncDisposable;

/** False where there is no `script` of util-linux, which makes the terminal. */
export const hasPseudoTerminal = String(spawnSync('script', ['--version']).stdout).includes('util-linux');

/** Runs a command line in a pseudo-terminal. */
export function openPseudoTerminal(
  command: string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): PseudoTerminal {
  const line = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  const child = spawn('script', ['-qfec', `exec ${line}`, '/dev/null'], {
    ...options,
    env: { ...options.env, TERM: 'xterm', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  let from = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
  const { promise: exit, resolve } = Promise.withResolvers<number | null>();
  child.on('exit', resolve);
  return {
    type: (keys) => void child.stdin.write(keys),
    shown: () => shown,
    async sees(text) {
      await waitUntil(async () => shown.includes(text, from), {
        what: `${JSON.stringify(text)} in ${JSON.stringify(shown.slice(from).slice(-2_000))}`,
      });
      from = shown.indexOf(text, from) + text.length;
    },
    exit,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}
