/** Suffixes that programs add on their own, in the order they try them. */
const added =
  '.js .mjs .cjs .ts .mts .cts .tsx .jsx .json .py .sh .rb .php .pl /index.js /index.mjs /index.cjs /index.ts /__init__.py'.split(
    ' ',
  );
const written = /\.(?:[cm]?[jt]sx?|json|py|sh|bash|zsh|rb|php|pl|pm|mk|go|rs|lua|ps1|bat|exs?)$/;

/** Resolves `.` and `..`; null if the path leaves the repository. */
export function normalPath(path: string): string | null {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..' && parts.pop() === undefined) return null;
    if (part !== '' && part !== '.' && part !== '..') parts.push(part);
  }
  return parts.join('/');
}

export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Whether a word may be a path: it contains a directory or ends like a program. */
export function isPathLike(word: string): boolean {
  return /^[\w./@+~-]{1,300}$/.test(word) && (word.includes('/') || written.test(word));
}

/** Lock files: a new package does not change the gate. */
const lock = /(?:^|\/)(?:package-lock|npm-shrinkwrap)\.json$/;

/** Whether a string in code may be the path of code; strings also name documents and data. */
export function isCodePath(word: string): boolean {
  // JSON is imported by relative path; a bare name is read as data.
  if (word.endsWith('.json') && (!/^\.\.?\//.test(word) || lock.test(word))) return false;
  return isPathLike(word) && (written.test(word) || !/[^./][.][^/]*$/.test(word));
}

/** The paths that a word may mean below a directory, in the order to try. */
export function candidates(base: string, word: string): string[] {
  const path = normalPath(`${base}/${word.replace(/^file:\/\//, '')}`);
  if (path === null || path === '') return [];
  // TypeScript sources are imported by their compiled names.
  const source = /\.[cm]?jsx?$/.test(path) ? [path.replace(/js(x?)$/, 'ts$1')] : [];
  return [path, ...source, ...(written.test(path) ? [] : added.map((end) => `${path}${end}`))];
}

/** The paths of a Python module, seen from a directory; leading dots go up from there. */
export function moduleCandidates(base: string, name: string): string[] {
  const [, dots = '', rest = ''] = /^(\.*)(.*)$/.exec(name) ?? [];
  const up = '../'.repeat(Math.max(0, dots.length - 1));
  const path = normalPath(`${base}/${up}${rest.replaceAll('.', '/')}`);
  return path === null || path === '' ? [] : [`${path}.py`, `${path}/__init__.py`];
}
