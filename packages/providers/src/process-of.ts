import type { ProviderPreset } from '@pawl/core/port/provider';

/** Programs that run a script, so their own name says nothing. */
const interpreter = /^(?:node|nodejs|bun|deno|python[\d.]*|ruby|perl)$/;
/** Programs that run anything. */
const shell = /^(?:sh|bash|dash|zsh|fish|ksh|env|sudo|npx|uvx)$/;

export function isInterpreter(name: string): boolean {
  return interpreter.test(name);
}

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The default way to recognise a command's processes: by its program, or by the script it runs. */
export function processOf(command: readonly string[]): ProviderPreset['process'] {
  const [program = '', ...rest] = command;
  const name = fileName(program);
  if (shell.test(name)) return { names: [], commandLine: null };
  if (!isInterpreter(name)) return { names: [name], commandLine: null };
  const script = fileName(rest.find((word) => !word.startsWith('-')) ?? '');
  const quoted = script.replaceAll(/[^\w-]/g, String.raw`\$&`);
  return { names: [], commandLine: script === '' ? null : `(^|/)${quoted}$` };
}
