import { directoryOf, normalPath } from './path-candidates.ts';
import { readObject } from './package-scripts.ts';

/** Conventional directories of the code under test. */
const customary = /(?:^|\/)(?:src|app|internal|pkg)\//;

/** Conventional directories of build and test tools. */
export const toolDirectory = /^(?:scripts?|tools?|tooling|ci|build|dev|hack|bin|tests?|e2e|qa)(?:\/|$)/;

/**
 * Tells the code under test from runner files that import it: by conventional directories, and by the entries that
 * package.json files name, with their directories. Excludes directories of files that a check names.
 */
export function codeUnderTest(
  packages: ReadonlyMap<string, string>,
  runDirectories: ReadonlySet<string>,
): (path: string) => boolean {
  const entries = new Set<string>();
  for (const [path, text] of packages) for (const entry of entriesOf(path, text)) entries.add(entry);
  const roots = new Set([...packages.keys()].map(directoryOf));
  const directories = [...entries]
    .map(directoryOf)
    .filter((directory) => !roots.has(directory) && !runDirectories.has(directory));
  return (path) =>
    customary.test(path) || entries.has(path) || directories.some((directory) => path.startsWith(`${directory}/`));
}

/** The entry files of a package; its index by default. */
function entriesOf(path: string, text: string): string[] {
  const content = readObject(text) ?? {};
  const { main, module, browser, types, bin, exports } = content;
  const named = [main, module, browser, types, bin, exports].flatMap((value) => stringsOf(value, 0));
  const words = named.length > 0 ? named : ['index.js', 'index.mjs', 'index.cjs', 'index.ts'];
  return words.flatMap((word) => normalPath(`${directoryOf(path)}/${word}`) ?? []);
}

function stringsOf(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > 5) return [];
  return Object.values(value).flatMap((each) => stringsOf(each, depth + 1));
}
