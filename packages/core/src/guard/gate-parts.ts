import type { Gate } from './gate-files.ts';
import { readObject, scriptsOf, usedScripts } from './package-scripts.ts';

/** package.json keys that configure tests. */
const runnerKeys = ['packageManager', 'jest', 'ava', 'mocha', 'vitest', 'tap', 'nyc', 'c8', 'playwright'];
const denoKeys = ['tasks', 'test', 'exclude'];

/** Sections of other files that configure tests. */
const sections: readonly { path: RegExp; section: RegExp }[] = [
  { path: /pyproject\.toml$/, section: /^tool\.(?:pytest|tox|coverage|nox|poe|taskipy|pdm\.scripts|hatch\.envs)\b/ },
  { path: /setup\.cfg$/, section: /^(?:tool:pytest|aliases|coverage:)/ },
  { path: /tox\.ini$/, section: /^(?:pytest|tox|testenv|coverage:)/ },
];

/**
 * Describes a change to the gate's parts of a file; null if it leaves them alone. A file that cannot be parsed on
 * either side counts as changed. A new file adds to the gate and weakens nothing.
 */
export function changedPart(path: string, before: string | null, after: string | null, gate: Gate): string | null {
  if (before === null) return null;
  if (/(?:^|\/)(?:package|composer)\.json$/.test(path)) return changedScripts(before, after, gate);
  if (/(?:^|\/)deno\.jsonc?$/.test(path)) return gate.words.has('deno') ? changedKeys(before, after, denoKeys) : null;
  const found = sections.find((each) => each.path.test(path));
  if (found === undefined) return null;
  const isSame = sectionText(before, found.section) === sectionText(after ?? '', found.section);
  return isSame ? null : 'its test settings changed';
}

function changedScripts(before: string, after: string | null, gate: Gate): string | null {
  const [old, now] = [scriptsOf(before), scriptsOf(after)];
  const names = new Set([...usedScripts(old, gate.words), ...usedScripts(now, gate.words)]);
  const changed = [...names].filter((name) => old.get(name) !== now.get(name));
  if (readObject(before) === null || (after !== null && readObject(after) === null)) return 'it is not valid JSON';
  if (changed.length > 0)
    return `the script${changed.length === 1 ? '' : 's'} ${changed.sort().slice(0, 5).join(', ')} changed`;
  return after === null ? null : changedKeys(before, after, runnerKeys);
}

function changedKeys(before: string, after: string | null, keys: readonly string[]): string | null {
  const [old, now] = [readObject(before), readObject(after)];
  if (old === null || now === null) return 'it cannot be compared';
  try {
    const changed = keys.filter((key) => JSON.stringify(old[key]) !== JSON.stringify(now[key]));
    return changed.length === 0 ? null : `${changed.join(', ')} changed`;
  } catch {
    return 'it cannot be compared';
  }
}

/** The lines of all matching sections, without comments and empty lines. */
function sectionText(text: string, section: RegExp): string {
  let isWanted = false;
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    const words = line.trim();
    const [, name] = /^\[{1,2}([^[\]]{1,200})\]{1,2}/.exec(words) ?? [];
    if (name !== undefined) isWanted = section.test(name.trim());
    // In TOML a dotted key names its section itself.
    const isNamed = words.startsWith('pytest.') || (words.startsWith('tool.') && section.test(words));
    if (words !== '' && !/^[#;]/.test(words) && (isWanted || isNamed)) lines.push(words);
  }
  return lines.join('\n');
}
