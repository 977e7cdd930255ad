import { gateLimits } from './gate-limit.ts';

/** What a package manager runs by itself when it installs. */
const lifecycle = ['preinstall', 'install', 'postinstall', 'prepare'];

/** The words of shell commands, as far as names of scripts and files go. */
export function wordsOf(commands: readonly string[]): string[] {
  return commands.flatMap((command) => command.split(/[\s;&|()<>"'`=]+/)).filter((word) => word !== '');
}

/** The scripts of a package.json (or composer.json) by their names; none when it cannot be read. */
export function scriptsOf(text: string | null): Map<string, string> {
  const content = readObject(text);
  const scripts = asObject(content?.['scripts']) ?? {};
  return new Map(
    Object.entries(scripts).flatMap(([name, script]): [string, string][] => {
      if (typeof script === 'string') return [[name, script]];
      return Array.isArray(script) ? [[name, script.join(' && ')]] : [];
    }),
  );
}

/** The scripts that run when these words are commands: those that are named, what comes before and after them, what they call. */
export function usedScripts(scripts: ReadonlyMap<string, string>, words: ReadonlySet<string>): Set<string> {
  const used = new Set<string>();
  const seen = new Set<string>([...words, ...lifecycle]);
  let families = 0;
  // A set grows while it is gone through, and each word is gone through once.
  for (const word of seen) {
    const isFamily = word.endsWith('*') && (families += 1) <= gateLimits.families;
    const named = isFamily ? [...scripts.keys()].filter((name) => name.startsWith(word.slice(0, -1))) : [word];
    for (const name of named.flatMap((each) => [each, `pre${each}`, `post${each}`])) {
      const script = scripts.get(name);
      if (script === undefined || used.has(name)) continue;
      used.add(name);
      for (const called of wordsOf([script])) seen.add(called.replace(/^@/, ''));
    }
  }
  return used;
}

/** A text as a JSON object; null when it is none. */
export function readObject(text: string | null): Record<string, unknown> | null {
  if (text === null) return null;
  try {
    return asObject(JSON.parse(text.replace(/^\uFEFF/, '')));
  } catch {
    return null;
  }
}

function asObject(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
