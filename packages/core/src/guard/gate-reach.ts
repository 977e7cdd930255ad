import { codeUnderTest, toolDirectory } from './code-under-test.ts';
import type { Gate } from './gate-files.ts';
import { configuresTests, hasParts, isLeftOut } from './gate-files.ts';
import { gateLimits } from './gate-limit.ts';
import { recipesFor } from './makefile.ts';
import { scriptsOf, usedScripts, wordsOf } from './package-scripts.ts';
import { candidates, directoryOf, isCodePath, isPathLike, moduleCandidates, normalPath } from './path-candidates.ts';
import { callsIn, pythonModules, stringsIn, withoutPrefixes } from './reference-words.ts';
import { runFiles } from './run-files.ts';
import { holdsTests } from './test-files.ts';

/** The files of the commit that changes are judged against. */
export type GateSource = {
  files: { has(path: string): boolean; keys(): Iterable<string> };
  links: ReadonlySet<string>;
  read(paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
};

/** A text of commands, and the directories they may run in. */
type Call = { text: string; from: string | null; directories: readonly string[] };

const manifest = /(?:^|\/)package\.json$/;
/** A build configuration, which may configure the tests as well. */
const viteConfig = /(?:^|\/)vite\.config\.[cm]?[jt]s$/;
const makefileName = /(?:^|\/)(?:GNUmakefile|[Mm]akefile|[^/]+\.mk)$/;
const shellName = /(?:\.(?:sh|bash|zsh|ksh)|(?:^|\/)(?:\.?[Jj]ustfile|Taskfile\.ya?ml|[^/.]+))$/;

/**
 * Follows the gate's commands into the repository: scripts they run, what those import, source, include or start,
 * makefile targets and package.json scripts. Stops at tests and at the code under test, and never runs anything.
 */
export async function followGate(gate: Gate, commands: readonly string[], source: GateSource): Promise<Gate> {
  const walk = new Walk(gate, source, await manifestsIn(source));
  for (const text of commands) walk.call({ text, from: null, directories: [''] });
  for (const path of source.files.keys()) if (configuresTests(path) || viteConfig.test(path)) walk.find(path, null);
  for (let step = 0; step < gateLimits.reachedSteps; step += 1) {
    const paths = walk.takeNext();
    if (paths.length === 0) break;
    for (const [path, text] of await source.read(paths)) walk.scan(path, text);
  }
  return { ...gate, words: walk.words, reached: walk.reached, shadows: walk.shadows };
}

async function manifestsIn(source: GateSource): Promise<ReadonlyMap<string, string>> {
  const paths = [...source.files.keys()].filter((path) => manifest.test(path) && !path.includes('node_modules/'));
  return source.read(paths.slice(0, gateLimits.references));
}

class Walk {
  /** Files of the gate, each with the referring file; null if a command names it directly. */
  readonly reached = new Map<string, string | null>();
  /** Missing files that, if added, would take precedence over a reached one. */
  readonly shadows = new Map<string, string>();
  readonly words: Set<string>;
  readonly #gate: Gate;
  readonly #source: GateSource;
  readonly #packages: ReadonlyMap<string, string>;
  readonly #isProduct: (path: string) => boolean;
  readonly #makefiles = new Map<string, string>();
  readonly #called = new Set<string>();
  readonly #found = new Map<string, string | null>();
  #next: string[] = [];

  constructor(gate: Gate, source: GateSource, packages: ReadonlyMap<string, string>) {
    this.#gate = gate;
    this.#source = source;
    this.#packages = packages;
    this.words = new Set(gate.words);
    this.#isProduct = codeUnderTest(packages, new Set([...gate.run].map(directoryOf)));
  }

  /** Returns the files to read next, once all known commands are processed. */
  takeNext(): string[] {
    for (let before = -1; before !== this.#called.size;) {
      before = this.#called.size;
      this.#callScripts();
    }
    const next = this.#next;
    this.#next = [];
    return next;
  }

  /** Follows package.json scripts and makefile targets whose names were called. */
  #callScripts(): void {
    for (const [path, text] of this.#packages) {
      const scripts = scriptsOf(text);
      for (const name of usedScripts(scripts, this.words)) {
        this.call({ text: scripts.get(name) ?? '', from: path, directories: [directoryOf(path), ''] });
      }
    }
    for (const [path, text] of this.#makefiles) {
      const { commands, includes } = recipesFor(text, this.words);
      const directories = [directoryOf(path), ''];
      for (const command of commands) this.call({ text: command, from: path, directories });
      for (const included of includes) this.#resolve(included, directories, path);
    }
  }

  /** Processes a text of commands once: the files they run, and the words by which they call others. */
  call({ text: written, from, directories }: Call): void {
    const text = withoutPrefixes(written);
    const key = `${directories.join(':')}\0${text}`;
    if (this.#called.has(key) || this.#called.size >= gateLimits.references) return;
    this.#called.add(key);
    for (const word of wordsOf(from === null ? [text] : callsIn(text))) this.words.add(word);
    const changed = [...text.matchAll(/(?:\bcd|\s-C|--prefix|--directory)[\s=]+([\w./-]{1,200})/g)];
    const bases = new Set(directories);
    for (const [, to = ''] of changed) for (const base of directories) bases.add(normalPath(`${base}/${to}`) ?? base);
    for (const word of runFiles([text])) if (isPathLike(word)) this.#resolve(word, bases, from);
    for (const [, word = ''] of text.matchAll(
      /(?:--import|--require|--loader|--env-file|\s-r)[\s=]+["']?([\w./@-]{1,200})/g,
    ))
      if (isPathLike(word)) this.#resolve(word, bases, from);
    for (const [, name = ''] of text.matchAll(/\bpython[\d.]*\s(?:\s*-[A-Za-z]\s)*?\s*-m\s+([\w.]{1,200})/g))
      for (const base of bases) this.#findFirst([...moduleCandidates(base, name), ...mainOf(base, name)], from);
    for (const [, path = ''] of text.matchAll(/\bgo\s+run\s+(?:-\S+\s+)*(\.[\w./-]{0,200})/g))
      for (const base of bases) this.#findDirectory(normalPath(`${base}/${path}`), /^[^/]+(?<!_test)\.go$/, from);
    if (/\bcargo\s+(?:xtask|run\s.*\bxtask)\b/.test(text)) this.#findDirectory('xtask', /\.rs$/, from);
    if (/(?:^|[\s;&|(])g?make(?:\s|$)/.test(text))
      for (const base of bases) this.#findDirectory(base, /^(?:GNUmakefile|[Mm]akefile)$/, from);
  }

  #findDirectory(directory: string | null, name: RegExp, from: string | null): void {
    if (directory === null) return;
    const start = directory === '' ? '' : `${directory}/`;
    for (const path of this.#source.files.keys())
      if (path.startsWith(start) && name.test(path.slice(start.length))) this.find(path, from);
  }

  /** Resolves a word against the first directory in which it names a file. */
  #resolve(word: string, bases: Iterable<string>, from: string | null): void {
    for (const base of bases) if (this.#findFirst(candidates(base, word), from)) return;
  }

  #findFirst(paths: readonly string[], from: string | null): boolean {
    const at = paths.findIndex((path) => this.#source.files.has(path));
    const path = paths[at];
    if (path === undefined || !this.find(path, from)) return path !== undefined;
    for (const missing of paths.slice(0, at)) this.shadows.set(missing, path);
    return true;
  }

  /** Queues a file for reading. Returns whether it may belong to the gate. */
  find(path: string, from: string | null): boolean {
    if (this.#found.has(path)) return true;
    const isNamed = from === null;
    if (hasParts(path)) return false;
    if (!isNamed && (this.#isProduct(path) || isLeftOut(path, this.#gate))) return false;
    if (this.#found.size >= gateLimits.reachedFiles) return false;
    this.#found.set(path, from);
    this.#next.push(path);
    return true;
  }

  /** Processes the references of a gate file. A file with tests is not one, and its references are not followed. */
  scan(path: string, text: string): void {
    const directory = directoryOf(path);
    if (this.#source.links.has(path)) {
      this.reached.set(path, this.#found.get(path) ?? null);
      this.#resolve(text, [directory], path);
      return;
    }
    if (holdsTests(path, text)) return;
    if (viteConfig.test(path) && !/\bvitest\b|\btest\s*:/.test(text)) return;
    this.reached.set(path, this.#found.get(path) ?? null);
    if (makefileName.test(path)) this.#makefiles.set(path, text);
    else if (shellName.test(path) || /^#!.*\b(?:ba|da|z|k)?sh\b/.test(text))
      this.call({ text: text.replaceAll(/^\s*#.*$/gm, ''), from: path, directories: [directory, ''] });
    else this.#scanCode(path, directory, text);
  }

  #scanCode(path: string, directory: string, text: string): void {
    for (const word of stringsIn(text)) {
      if (isCodePath(word)) this.#resolve(word, [directory, ''], path);
      else if (/\s/.test(word) && callsIn(word).length > 0)
        this.call({ text: word, from: path, directories: ['', directory] });
    }
    for (const [, word = ''] of text.matchAll(
      /\b(?:require_relative|load|include|include_once|require_once)\s*\(?\s*["']([\w-]{1,100})["']/g,
    ))
      this.#resolve(word, [directory], path);
    if (!path.endsWith('.py')) return;
    for (const name of pythonModules(text)) {
      const own = moduleCandidates(directory, name).filter((each) => isOfTool(path, each));
      if (this.#findFirst(own, path)) continue;
      for (const missing of own) this.shadows.set(missing, path);
      if (!name.startsWith('.'))
        this.#findFirst(
          moduleCandidates('', name).filter((each) => isOfTool(path, each)),
          path,
        );
    }
  }
}

function mainOf(base: string, name: string): string[] {
  const path = normalPath(`${base}/${name.replaceAll('.', '/')}/__main__.py`);
  return path === null ? [] : [path];
}

/**
 * Whether a Python module belongs to a tool rather than to the code under test: it lies beside the tool, or in a tool
 * directory.
 */
function isOfTool(importer: string, path: string): boolean {
  const [top = '', ...rest] = path.split('/');
  return rest.length === 0 || toolDirectory.test(path) || importer.startsWith(`${top}/`);
}
