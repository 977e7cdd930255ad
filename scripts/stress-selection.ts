import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { findImports } from './find-imports.ts';

/** Signs that the outcome of a test, or of a fixture it imports, may depend on processes or the clock. */
const signs =
  /'node:(?:child_process|timers)|\b(?:startDaemon|startSession|waitUntil|setTimeout|performance\.now|cpuUsage)\(/;

export const selectionRule = `Selected are test files that match ${signs}, or that import a test fixture which does.`;

/** All test files below a root, and those that the rule selects; paths from the root. */
export function selectTestFiles(root: string): { all: string[]; selected: string[] } {
  const all = globSync(['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'], { cwd: root }).sort();
  const known = new Map<string, boolean>();
  return { all, selected: all.filter((path) => isSelected(root, path, known)) };
}

function isSelected(root: string, path: string, known: Map<string, boolean>): boolean {
  const answer = known.get(path);
  if (answer !== undefined) return answer;
  // Fixtures that import each other are visited once.
  known.set(path, false);
  const text = readFileSync(join(root, path), 'utf8');
  const fixtures = findImports({ path, text }).flatMap(({ module }) => fixtureAt(root, path, module));
  const found = signs.test(text) || fixtures.some((fixture) => isSelected(root, fixture, known));
  known.set(path, found);
  return found;
}

/** The file of an imported fixture: in the tests' own folders, or in the package `testing`. Sources do not count. */
function fixtureAt(root: string, importer: string, module: string): string[] {
  const shared = /^@pawl\/testing\/(.+)$/.exec(module)?.[1];
  const path = shared === undefined ? posix.join(posix.dirname(importer), module) : `packages/testing/src/${shared}.ts`;
  const isFixture = shared !== undefined || (module.startsWith('.') && /(^|\/)test\/|^packages\/testing\//.test(path));
  return isFixture && existsSync(join(root, path)) ? [path] : [];
}
