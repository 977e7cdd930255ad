import { gateLimits } from './gate-limit.ts';

/** Scripts that a package manager runs on install. */
const lifecycle = ['preinstall', 'install', 'postinstall', 'prepare'];

/** Splits shell commands into words that may name scripts and files. */
export function wordsOf(commands: readonly string[]): string[] {
  return commands.flatMap((command) => command.split(/[\s;&|()<>"'`=]+/)).filter((word) => word !== '');
}

/** The scripts of a package.json (or composer.json) by name; empty if it cannot be parsed. */
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

/** The scripts that run for these words: named ones, their pre and post scripts, and what those call. */
export function usedScripts(scripts: ReadonlyMap<string, string>, words: ReadonlySet<string>): Set<string> {
  const used = new Set<string>();
  const seen = new Set<string>([...words, ...lifecycle]);
  let families = 0;
  // The set grows during iteration, and each word is visited once.
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

/** Parses a JSON object; null if the text is anything else. */
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
