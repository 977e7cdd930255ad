import { posix } from 'node:path';
import type { SourceFile } from './find-imports.ts';
import { findImports } from './find-imports.ts';
import { roomOf, rooms } from './rooms.ts';

/** The maximum sizes of the sources, unless listed as an exception. */
export const measures = {
  'room-lines': 4_000,
  'folder-files': 25,
  'function-lines': 80,
  'parts-fields': 6,
  'module-memory': 0,
} as const;
type MeasureName = keyof typeof measures;

/** A measured item: `what` names it by path. */
export type Measured = { measure: MeasureName; what: string; size: number };

/** Known violations, and their sizes. The list may only shrink. */
export type Exceptions = Partial<Record<MeasureName, Record<string, number>>>;

/** All violations. */
export function measureHouse(files: readonly SourceFile[]): Measured[] {
  const sources = files.filter(({ path }) => /^packages\/[^/]+\/src\//.test(path));
  const found = [
    ...roomSizes(sources).map(({ name, lines }) => measured('room-lines', name, lines)),
    ...folderSizes(sources),
    ...sources.flatMap(functionSizes),
    ...sources.flatMap(partsSizes),
    // Test stand-ins may keep state: each runs in its own process.
    ...sources.filter(({ path }) => !path.startsWith('packages/testing/')).flatMap(memories),
  ];
  return found.filter(({ measure, size }) => size > measures[measure]);
}

const measured = (measure: MeasureName, what: string, size: number): Measured => ({ measure, what, size });

/** Compares violations with the exceptions: larger ones, and exceptions that are no longer needed. */
export function houseProblems(found: readonly Measured[], exceptions: Exceptions): string[] {
  const passed = found.flatMap(({ measure, what, size }) => {
    const allowed = exceptions[measure]?.[what] ?? measures[measure];
    return size > allowed ? [`${what}: ${size} ${unit[measure]}, and ${allowed} are allowed`] : [];
  });
  const unneeded = Object.entries(exceptions).flatMap(([measure, listed]) =>
    Object.keys(listed)
      .filter((what) => !found.some((each) => each.measure === measure && each.what === what))
      .map((what) => `${what}: remove it from the exceptions of ${measure}; it keeps the measure now`),
  );
  return [...passed, ...unneeded];
}

const unit: Record<MeasureName, string> = {
  'room-lines': 'lines in a room',
  'folder-files': 'files in one folder',
  'function-lines': 'lines in one function',
  'parts-fields': 'collaborators handed through',
  'module-memory': 'variables at module level that remember',
};

/** The rooms with their files, lines and imports. */
export function roomSizes(
  files: readonly SourceFile[],
): { name: string; files: number; lines: number; to: string[] }[] {
  return rooms.map(({ name }) => {
    const own = files.filter(({ path }) => roomOf(path) === name);
    const to = new Set(own.flatMap((file) => findImports(file).flatMap(({ module }) => targetRoom(file.path, module))));
    to.delete(name);
    return { name, files: own.length, lines: own.reduce((sum, { text }) => sum + lineCount(text), 0), to: [...to] };
  });
}

function targetRoom(path: string, module: string): string[] {
  const room = module.startsWith('.') ? roomOf(posix.normalize(posix.join(posix.dirname(path), module))) : null;
  return room === null ? [] : [room];
}

function folderSizes(files: readonly SourceFile[]): Measured[] {
  const folders = Map.groupBy(files, ({ path }) => posix.dirname(path));
  return [...folders].map(([folder, inside]) => measured('folder-files', folder, inside.length));
}

const lineCount = (text: string) => text.split('\n').length - 1;

/** Functions start in the first column, and so does their last brace, as formatted. */
const functionStart =
  /^(?:export )?(?:async )?function\*? ?(\w+)|^(?:export )?const (\w+)[^=]* = (?:async )?\(.*(?:=>|\() ?[{(]?$/;

function functionSizes({ path, text }: SourceFile): Measured[] {
  const found: Measured[] = [];
  let open: { name: string; at: number } | null = null;
  for (const [at, line] of text.split('\n').entries()) {
    const match = functionStart.exec(line);
    if (match !== null) open = { name: match[1] ?? match[2] ?? '', at };
    if (open === null || !/^(?:\}|\);|\};|\}\);)$/.test(line)) continue;
    found.push(measured('function-lines', `${path} ${open.name}`, at - open.at + 1));
    open = null;
  }
  return found;
}

/** An object type whose name suggests that it carries collaborators. */
const partsType = /^(?:export )?type (\w*Parts) = \{\n([^]*?)^\};/gm;

function partsSizes({ path, text }: SourceFile): Measured[] {
  return [...text.matchAll(partsType)].map(([, name = '', body = '']) =>
    measured('parts-fields', `${path} ${name}`, (body.match(/^ {2}\w+[?]?[:(<]/gm) ?? []).length),
  );
}

const memory = /^(?:export )?(?:let |const \w+.* = new (?:Map|Set|WeakMap|WeakSet)(?:<.*>)?\(\))/gm;

function memories({ path, text }: SourceFile): Measured[] {
  const count = text.match(memory)?.length ?? 0;
  return count === 0 ? [] : [measured('module-memory', path, count)];
}
