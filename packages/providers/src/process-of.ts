import type { ProviderPreset } from '@pawl/core/port/provider';

/** Programs that run a script, so that their own name says nothing. */
const interpreter = /^(?:node|nodejs|bun|deno|python[\d.]*|ruby|perl)$/;
/** Programs that run anything at all. */
const shell = /^(?:sh|bash|dash|zsh|fish|ksh|env|sudo|npx|uvx)$/;

/** True for the name of a program that runs a script. */
export function isInterpreter(name: string): boolean {
  return interpreter.test(name);
}

/** The last part of a path. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** How the processes of a command are told, as long as nobody says it: by its program, or by the script that is run. */
export function processOf(command: readonly string[]): ProviderPreset['process'] {
  const [program = '', ...rest] = command;
  const name = fileName(program);
  if (shell.test(name)) return { names: [], commandLine: null };
  if (!isInterpreter(name)) return { names: [name], commandLine: null };
  const script = fileName(rest.find((word) => !word.startsWith('-')) ?? '');
  const quoted = script.replaceAll(/[^\w-]/g, String.raw`\$&`);
  return { names: [], commandLine: script === '' ? null : `(^|/)${quoted}$` };
}
