import { gateLimits } from './gate-limit.ts';

/** A variable, a substitution or an interpolation before a path, as in `"$(dirname "$0")/lib.sh"`. */
const prefix = /\$(?:\{[^}\n]{0,200}\}|\w{1,100}|\((?:[^()\n]|\([^()\n]{0,200}\)){0,200}\))["']?\//g;

/** Turns paths behind a variable or a substitution into relative ones; the caller tries several directories. */
export function withoutPrefixes(text: string): string {
  return text.replaceAll(prefix, './');
}

/** Quoted strings of a text, skipping comment lines. */
export function stringsIn(text: string): string[] {
  const found: string[] = [];
  for (const line of withoutPrefixes(text).split('\n')) {
    if (/^\s*(?:\/\/|\/\*|\*|#(?!include))/.test(line)) continue;
    const seen = line.slice(0, gateLimits.referenceLineCharacters);
    for (const [, , word = ''] of seen.matchAll(/(["'`])((?:(?!\1)[^\\]){1,300})\1/g)) found.push(word);
    if (found.length >= gateLimits.references) break;
  }
  return found.slice(0, gateLimits.references);
}

/** Programs that take the name of a script or a target as an argument. */
const callers =
  /^(?:\S*\/)?(?:npm|npx|pnpm|yarn|bun|bunx|deno|make|gmake|just|task|rake|nox|turbo|nx|lerna|composer|cargo|go|sh|bash|node|tsx|python[\d.]*|ruby|perl|php)$/;

/** The parts of a script that call another program by name; other words reference nothing. */
export function callsIn(text: string): string[] {
  return text
    .split(/[\n;&|()`]+/)
    .map((part) => part.trim().replace(/^[@+-]+\s*/, ''))
    .filter((part) => part.split(/[\s"']+/).some((word) => callers.test(word)))
    .slice(0, gateLimits.references);
}

/** Modules that a Python file imports, by dotted name; a leading dot is the file's own package. */
export function pythonModules(text: string): string[] {
  const found: string[] = [];
  for (const line of text.split('\n')) {
    const seen = line.slice(0, gateLimits.referenceLineCharacters);
    const [, from, names = ''] = /^\s*from\s+([\w.]+)\s+import\s+(.*)$/.exec(seen) ?? [];
    const [, plain = ''] = /^\s*import\s+(.*)$/.exec(seen) ?? [];
    const listed = (from === undefined ? plain : names)
      .replace(/#.*$/, '')
      .split(',')
      .map((name) => name.replace(/\bas\b.*$/, '').replaceAll(/[()\s]/g, ''))
      .filter((name) => /^[\w.]+$/.test(name));
    if (from === undefined) found.push(...listed);
    else found.push(from, ...listed.map((name) => (from.endsWith('.') ? `${from}${name}` : `${from}.${name}`)));
    if (found.length >= gateLimits.references) break;
  }
  return found.slice(0, gateLimits.references);
}
