import { gateLimits } from './gate-limit.ts';
import { assertions, testBeginnings } from './test-words.ts';

/** File extensions of the languages in which tests are recognised. */
const languages = {
  script: 'js jsx ts tsx mjs cjs mts cts vue svelte',
  python: 'py',
  go: 'go',
  rust: 'rs',
  jvm: 'java kt kts scala groovy',
  dotnet: 'cs fs vb',
  php: 'php',
  ruby: 'rb',
  elixir: 'ex exs',
  shell: 'sh bash bats t',
  native: 'c cc cpp cxx h hpp',
} as const;
export type Language = keyof typeof languages;

const byEnd = new Map(
  Object.entries(languages).flatMap(([name, ends]) => ends.split(' ').map((end) => [end, name as Language] as const)),
);

/** The language of a file; null for documents, data and everything else. */
export function languageOf(path: string): Language | null {
  const [, end] = /\.([A-Za-z]{1,10})$/.exec(path) ?? [];
  return byEnd.get(end?.toLowerCase() ?? '') ?? null;
}

const testDirectory = /(?:^|\/)(?:__tests__|tests?|specs?|e2e)\//;
const testName =
  /(?:^|\/)(?:[^/]*[._-](?:test|tests|spec|e2e|cy)\.\w+|test[._-][^/]*|[^/]*(?:Test|Tests|TestCase|IT|Spec)\.(?:java|kt|kts|scala|groovy|cs|fs|vb|php)|conftest\.py|[^/]*\.(?:bats|t))$/;

/** Whether a file is code that looks like tests, by its path. */
export function isTestFile(path: string): boolean {
  return languageOf(path) !== null && (testDirectory.test(path) || testName.test(path));
}

/** Signs of a runner, rare in a test: it starts programs, or finds and loads files. */
const runs =
  /\b(?:child_process|subprocess|spawn(?:Sync)?|exec(?:File)?(?:Sync)?|fork|runpy|importlib|readdir(?:Sync)?|glob(?:Sync)?|listdir|import\s*\(\s*[^'"\s]|require\s*\(\s*[^'"\s])/;

/**
 * Whether a file with a test's path really holds tests: it defines some, or it asserts and starts nothing. Otherwise it
 * is a runner or part of one.
 */
export function holdsTests(path: string, text: string): boolean {
  const language = languageOf(path);
  if (language === null || !isTestFile(path)) return false;
  const lines = text.split('\n').map((line) => line.slice(0, gateLimits.lineCharacters));
  const isDefined = (line: string) => language === 'script' && /\bfunction\s+(?:it|test|specify)\b/.test(line);
  if (lines.some((line) => testBeginnings[language].test(line) && !isDefined(line))) return true;
  return language !== 'shell' && !runs.test(text) && lines.some((line) => assertions[language].test(line));
}

/** Whether a file may contain tests; some languages keep them beside the code. */
export function mayHoldTests(path: string): boolean {
  return isTestFile(path) || languageOf(path) === 'rust';
}
