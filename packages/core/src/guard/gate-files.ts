import type { CheckStep } from '@pawl/schema/change';
import { matchesGlob } from './glob.ts';
import { runFiles } from './run-files.ts';
import { scriptsOf, usedScripts, wordsOf } from './package-scripts.ts';
import { isTestFile } from './test-files.ts';

/** The files and words that make up a project's gate, besides its tests. */
export type Gate = {
  /** Words of the commands, and of the scripts they call. */
  words: ReadonlySet<string>;
  /** Files that they run. */
  run: ReadonlySet<string>;
  guardPaths: readonly string[];
  /** Files reached from those, each with the referring file; null if a command names it directly. */
  reached: ReadonlyMap<string, string | null>;
  /** Missing files that, if added, would take precedence over a reached one. */
  shadows: ReadonlyMap<string, string>;
};

/** Describes the gate by its commands, and by the scripts of the root package.json that they call. */
export function describeGate(
  checks: readonly CheckStep[],
  guardPaths: readonly string[],
  rootPackage: string | null,
): Gate {
  const commands = checks.map(({ run }) => run);
  const scripts = scriptsOf(rootPackage);
  const used = usedScripts(scripts, new Set(wordsOf(commands)));
  const texts = [...commands, ...[...used].map((name) => scripts.get(name) ?? '')];
  const words = new Set(wordsOf(texts));
  for (const name of used) words.add(name);
  return { words, run: filesRun(texts), guardPaths, reached: new Map(), shadows: new Map() };
}

/** Words of the commands that look like paths, also relative to directories they change to. */
function filesRun(commands: readonly string[]): Set<string> {
  const directories = commands.flatMap((command) =>
    [...command.matchAll(/\bcd\s+([\w./-]{1,200})/g)].map(([, to = '']) => to),
  );
  const paths = [...runFiles(commands)].filter((word) => /[./]/.test(word));
  const below = directories.flatMap((directory) => paths.map((path) => `${directory}/${path}`));
  return new Set(
    [...paths, ...below].map((path) => path.replaceAll(/(^|\/)(?:\.\/)+/g, '$1').replaceAll(/\/{2,}/g, '/')),
  );
}

type Part = {
  path: RegExp;
  /** Why it belongs to the gate. */
  reason: string;
  /** Applies only if a command has one of these words. */
  words?: readonly string[];
};

const configures = 'it configures the tests';

/** Files that belong to the gate as a whole: any change in them is reported. */
const wholes: readonly Part[] = [
  { path: /^\.pawl\/config\.yaml$/, reason: 'it names the checks' },
  { path: /^\.github\/(?:workflows|actions)\/./, reason: 'CI uses it' },
  {
    path: /^(?:\.gitlab-ci\.ya?ml|\.travis\.yml|\.drone\.ya?ml|Jenkinsfile|azure-pipelines\.ya?ml|bitbucket-pipelines\.yml)$/,
    reason: 'CI uses it',
  },
  { path: /^\.(?:gitlab\/ci|circleci|buildkite|woodpecker)\/./, reason: 'CI uses it' },
  {
    path: /(?:^|\/)(?:vitest|jest|playwright|karma|ava|cypress|wdio)\.(?:config|conf|workspace)\.(?:[cm]?[jt]s|json)$/,
    reason: configures,
  },
  { path: /(?:^|\/)\.(?:mocharc|nycrc|c8rc|taprc)(?:\.\w+)?$/, reason: configures },
  {
    path: /(?:^|\/)(?:\.?pytest\.ini|\.coveragerc|phpunit\.xml(?:\.dist)?|\.rspec|\.cargo\/config(?:\.toml)?|\.config\/nextest\.toml)$/,
    reason: configures,
  },
  { path: /(?:^|\/)(?:GNUmakefile|[Mm]akefile|[^/]+\.mk)$/, reason: 'make uses it', words: ['make', 'gmake'] },
  { path: /^\.?[Jj]ustfile$/, reason: 'just uses it', words: ['just'] },
  { path: /^Taskfile\.ya?ml$/, reason: 'task uses it', words: ['task'] },
  { path: /^Rakefile$/, reason: 'rake uses it', words: ['rake'] },
  { path: /^noxfile\.py$/, reason: 'nox uses it', words: ['nox'] },
  { path: /^turbo\.json$/, reason: 'turbo uses it', words: ['turbo'] },
  { path: /^nx\.json$/, reason: 'nx uses it', words: ['nx'] },
  { path: /(?:^|\/)\.npmrc$/, reason: 'npm uses it', words: ['npm', 'npx', 'pnpm'] },
  { path: /^\.yarnrc(?:\.yml)?$/, reason: 'yarn uses it', words: ['yarn'] },
  { path: /(?:^|\/)node_modules\/./, reason: 'installed programs run the checks' },
  { path: /^bunfig\.toml$/, reason: 'bun uses it', words: ['bun', 'bunx'] },
];

/** Why a file belongs to the gate as a whole; null if it does not. */
export function gateReason(path: string, gate: Gate): string | null {
  const whole = wholes.find(
    (part) => part.path.test(path) && (part.words?.some((word) => gate.words.has(word)) ?? true),
  );
  if (whole !== undefined) return whole.reason;
  if (gate.guardPaths.some((pattern) => !pattern.startsWith('!') && isBelow(pattern, path)))
    return 'guard_paths names it';
  if (gate.run.has(path) && !isTestFile(path) && !hasParts(path)) return 'a check runs it';
  const via = gate.reached.get(path);
  if (via !== undefined && !hasParts(path)) return via === null ? 'a check runs it' : `a check runs it through ${via}`;
  const hidden = gate.shadows.get(path);
  return hidden === undefined ? null : `a check would run it instead of the file that ${hidden} names`;
}

function isBelow(pattern: string, path: string): boolean {
  return matchesGlob(pattern, path) || matchesGlob(`${pattern}/**`, path);
}

/** Whether a `!` pattern in `guard_paths` excludes a file that the checks merely reach. */
export function isLeftOut(path: string, gate: Gate): boolean {
  return gate.guardPaths.some((pattern) => pattern.startsWith('!') && isBelow(pattern.slice(1), path));
}

export function configuresTests(path: string): boolean {
  return !path.includes('node_modules/') && wholes.some((part) => part.reason === configures && part.path.test(path));
}

/** Whether only parts of a file belong to the gate, so that its content must be compared before and after. */
export function hasParts(path: string): boolean {
  return /(?:^|\/)(?:package\.json|composer\.json|deno\.jsonc?|pyproject\.toml|setup\.cfg|tox\.ini)$/.test(path);
}
