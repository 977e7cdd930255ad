import { gateLimits } from './gate-limit.ts';
import type { PatchFile } from './patch.ts';
import type { Language } from './test-files.ts';
import { languageOf, mayHoldTests } from './test-files.ts';
import { testBeginnings } from './test-words.ts';

/**
 * Ways to skip a test, run only some, or allow a failure. Conditional skips (`skipIf`, `runIf`) do not count: where
 * they skip, the test counts show it.
 */
const skips: Record<Language, RegExp> = {
  script:
    /(?<![\w.])(?:it|test|describe|suite|context|specify|Deno\.test)(?:\.\w+)*\.(?:skip|only|todo|fixme|fails|failing|ignore)\b|(?<![\w.])(?:xit|xtest|xdescribe|xcontext|xspecify|fit|fdescribe|fcontext)\s*\(|\b(?:t|this|ctx|context)\.(?:skip|todo)\(|\{\s*(?:skip|todo|only|ignore)\s*:\s*(?:true|['"`])(?<=\b(?:it|test|describe|suite)\(.*)/,
  python:
    /\bmark\.(?:skip|skipif|xfail)\b|\bpytest\.(?:skip|xfail)\(|\bunittest\.(?:skip\w*|expectedFailure)\b|^\s*@(?:skip(?:If|Unless)?|expectedFailure)\b|\bself\.skipTest\(|\braise\s+(?:\w+\.)?SkipTest\b|^\s*collect_ignore(?:_glob)?\b|\bdef\s+pytest_(?:ignore_collect|collection_modifyitems|deselected|pyfunc_call|sessionfinish|runtest_(?:makereport|call|protocol))\b/,
  go: /\b(?:t|b|f|tb)\.Skip(?:f|Now)?\(|^\s*\/\/go:build\s+ignore\b/,
  rust: /#\[(?:cfg_attr\(.{0,80},\s*)?ignore\b/,
  jvm: /@(?:Disabled\w*|Ignore\w*)\b/,
  dotnet:
    /\[(?:Fact|Theory|Test|TestCase)\(.{0,80}\b(?:Skip|Ignore)\s*=|\[(?:Ignore|Explicit)\b|\bAssert\.(?:Ignore|Inconclusive|Skip)\(/,
  php: /\bmarkTest(?:Skipped|Incomplete)\(|->(?:skip|todo|only)\(/,
  ruby: /(?<![\w.])(?:xit|xdescribe|xcontext|xspecify|fit|fdescribe|fcontext)\b|^\s*(?:skip|pending)\b(?!\s*[=.:])|,\s*(?:skip|pending|focus):\s*(?:true|['"])|,\s*:(?:skip|pending|focus)\b/,
  elixir: /@(?:module|describe)?tag\s+(?::skip\b|skip:)/,
  shell: /^\s*skip\b(?!\s*\(\))/,
  native: /\bGTEST_SKIP\(|\bDISABLED_\w/,
};

/** Lines of a check's file that ignore a failure. */
const neutralisers =
  /\|\|\s*(?:true|:)(?:[\s;)"']|$)|\bexit\s+0\b|\bset\s+\+e\b|\bcontinue-on-error\s*:\s*['"]?true\b|\ballow_failure\s*:\s*true\b|^\t-[^-]|--passWithNoTests\b|\bpassWithNoTests\s*:\s*true\b|\bif:\s*false\b/;

/** Cargo settings that disable a target's tests. */
const cargoSwitch = /^\s*(?:test|autotests|doctest|harness)\s*=\s*false\b/;

export type AddedSkip = { line: number; text: string };

/**
 * The lines a change adds to a file that skip tests. Moved or reworded lines do not count: reports only as many as
 * there are more now.
 */
export function addedSkips(file: PatchFile, isGateFile: boolean): AddedSkip[] {
  const isSkip = skipIn(file.path, isGateFile);
  if (isSkip === null) return [];
  const before = file.removed.filter(isSkip).map((text) => text.trim());
  const added = file.added.filter(({ text }) => isSkip(text));
  const more = added.length - before.length;
  if (more <= 0) return [];
  const left = [...before];
  const fresh = added.filter(({ text }) => {
    const at = left.indexOf(text.trim());
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
  return fresh.slice(-more).map(({ line, text }) => ({ line, text: text.trim() }));
}

/** The number of tests a change adds to a file minus those it removes. */
export function testsGained(file: PatchFile): number {
  const count = (path: string, lines: readonly string[]) => {
    const language = languageOf(path);
    if (language === null || !mayHoldTests(path)) return 0;
    return lines.filter((text) => says(text, language, testBeginnings[language])).length;
  };
  const added = file.added.map(({ text }) => text);
  return count(file.path, added) - count(file.from, file.removed);
}

function skipIn(path: string, isGateFile: boolean): ((line: string) => boolean) | null {
  if (isGateFile) return (line) => neutralisers.test(beginningOf(line)) && !/^\s*#/.test(line);
  if (/(?:^|\/)Cargo\.toml$/.test(path)) return (line) => cargoSwitch.test(beginningOf(line));
  const language = languageOf(path);
  if (language === null || !mayHoldTests(path)) return null;
  return (line) => says(line, language, skips[language]);
}

/** Whether a line of code matches; comment lines do not. */
function says(line: string, language: Language, what: RegExp): boolean {
  const text = beginningOf(line);
  return what.test(text) && !comments[language].test(text);
}

/** Only the start of a line is searched; longer lines are generated. */
function beginningOf(line: string): string {
  const indent = line.length - line.trimStart().length;
  return line.slice(indent > gateLimits.lineCharacters ? indent : 0, indent + gateLimits.lineCharacters);
}

const slashes = /^\s*(?:\/\/(?!go:build)|\/\*|\*(?!\/)|<!--)/;
const hashes = /^\s*#/;
const comments: Record<Language, RegExp> = {
  script: slashes,
  python: hashes,
  go: slashes,
  rust: slashes,
  jvm: slashes,
  dotnet: slashes,
  php: slashes,
  ruby: hashes,
  elixir: hashes,
  shell: hashes,
  native: slashes,
};
