/** Words before a command that say how to run it. */
const leads = /^(?:if|then|else|elif|do|while|until|!|\{|time|exec|env|nice|sudo|command|npx|bunx|uv|poetry|run)$/;

/** Programs that run the file they are given. */
const interpreters =
  /^(?:\S*\/)?(?:sh|bash|dash|zsh|ksh|node|deno|bun|tsx|ts-node|python[\d.]*|ruby|perl|php|source|\.)$/;

/** Options whose value is a configuration file. */
const settings = /^(?:-c|-f|--config|--file|--project|--makefile)$/;

/**
 * The files that shell commands run or are configured by: programs, interpreted scripts, and configuration. Excludes
 * files they only read.
 */
export function runFiles(commands: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const part of commands.flatMap((command) => command.split(/[\n;&|()`]+/))) {
    let isRun = true;
    let isInterpreted = false;
    for (const word of part.split(/[\s<>"']+/)) {
      const [, option = '', value = ''] = /^(--?[\w-]+)=(.+)$/.exec(word) ?? [];
      if (word === '' || /^\w+=/.test(word)) continue;
      if (settings.test(option)) found.add(value);
      if (word.startsWith('-')) isRun ||= settings.test(word);
      else if (isRun && !leads.test(word)) {
        found.add(word);
        isInterpreted ||= interpreters.test(word);
        // An interpreter's options may have values before the file.
        isRun = isInterpreted && (interpreters.test(word) || !/[./]/.test(word));
      }
    }
  }
  return found;
}
