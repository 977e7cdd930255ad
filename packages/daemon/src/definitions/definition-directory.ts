import type { LayerFiles } from '@pawl/core/definitions/combine';
import type { Layer, Problem } from '@pawl/core/definitions/definition-file';
import { definitionLimits } from '@pawl/core/definitions/definition-limit';
import type { ReadYaml } from '@pawl/core/definitions/front-matter';
import { hasFrontMatter } from '@pawl/core/definitions/front-matter';
import type { Flavour, Parsed } from '@pawl/core/definitions/parse';
import { parseDefinition } from '@pawl/core/definitions/parse';
import { hasErrno, isPassing, messageOf } from '@pawl/schema/error';
import { createHash } from 'node:crypto';
import { opendir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isWithin, readDefinitionText } from './definition-text.ts';

/** A directory of definitions. Links must stay inside `within`; null allows any link, as in a person's own home. */
export type DefinitionDirectory = { path: string; layer: Layer; flavour: Flavour; within: string | null };

/** Parsed files that have not changed, by path. */
export type KnownFiles = Map<string, { fingerprint: string; parsed: Parsed }>;

export type DirectoryReader = {
  readYaml: () => Promise<ReadYaml>;
  now: () => number;
};

/** Resolves a directory; null if there is none, or a problem if it must not be read. */
export async function locate({ path, within }: DefinitionDirectory): Promise<string | Problem | null> {
  try {
    const place = await realpath(path);
    return isWithin(within, place) ? place : refusal(path, 'is a link out of the repository');
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return null;
    if (isPassing(error)) throw error;
    return refusal(path, `cannot be read: ${messageOf(error)}`);
  }
}

/**
 * Reads all definitions of a resolved directory. Parses only files that changed since they were cached in `known`;
 * updates `known` and drops files that are gone.
 */
export async function readDirectory(
  directory: DefinitionDirectory,
  place: string,
  known: KnownFiles,
  reader: DirectoryReader,
): Promise<LayerFiles> {
  const { names, problems } = await listNames(directory.path, place);
  const result: LayerFiles = { layer: directory.layer, files: [], problems };
  const paths = new Set<string>();
  for (const name of names) {
    const path = join(directory.path, name);
    paths.add(path);
    const parsed = await readOne(directory, path, join(place, name), known, reader);
    if (parsed === null) continue;
    if (parsed.ok) result.files.push(parsed.file);
    else if (parsed.problem !== null) problems.push(parsed.problem);
  }
  for (const path of known.keys()) if (!paths.has(path)) known.delete(path);
  return result;
}

async function listNames(path: string, place: string): Promise<{ names: string[]; problems: Problem[] }> {
  const { entriesPerDirectory, filesPerDirectory } = definitionLimits;
  const names: string[] = [];
  const problems: Problem[] = [];
  let entries = 0;
  try {
    for await (const { name } of await opendir(place)) {
      entries += 1;
      if (entries > entriesPerDirectory) {
        problems.push(refusal(path, `has more than ${entriesPerDirectory} entries; the rest is ignored`));
        break;
      }
      if (name.endsWith('.md') && !name.startsWith('.')) names.push(name);
    }
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return { names: [], problems };
    if (isPassing(error)) throw error;
    return { names: [], problems: [refusal(path, `cannot be read: ${messageOf(error)}`)] };
  }
  names.sort();
  if (names.length > filesPerDirectory) {
    const reason = `has ${names.length} files; those after ${names[filesPerDirectory - 1]} are not read`;
    problems.push(refusal(path, reason));
  }
  return { names: names.slice(0, filesPerDirectory), problems };
}

async function readOne(
  { layer, flavour, within }: DefinitionDirectory,
  path: string,
  place: string,
  known: KnownFiles,
  { readYaml, now }: DirectoryReader,
): Promise<Parsed | null> {
  const before = known.get(path);
  const found = await readDefinitionText(place, within, before?.fingerprint);
  if (found?.state === 'same' && before !== undefined) return before.parsed;
  known.delete(path);
  if (found === null || found.state === 'same') return null;
  if (found.state === 'refused') return { ok: false, problem: refusal(path, found.reason, stemOf(path)) };
  const { bytes, fingerprint, changedMs } = found;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const parsed = parseBytes(bytes, { path, layer, flavour, sha256 }, await readYaml());
  // The next write may get the same timestamp, so cache a file only after it has settled.
  if (now() - changedMs > definitionLimits.settledMs) known.set(path, { fingerprint, parsed });
  return parsed;
}

function parseBytes(bytes: Uint8Array, origin: Parameters<typeof parseDefinition>[1], readYaml: ReadYaml): Parsed {
  try {
    return parseDefinition(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), origin, readYaml);
  } catch (error) {
    if (!hasErrno(error, 'ERR_ENCODING_INVALID_ENCODED_DATA')) throw error;
    const text = new TextDecoder().decode(bytes);
    if (origin.flavour === 'shared' && !hasFrontMatter(text)) return { ok: false, problem: null };
    const line = text.slice(0, text.indexOf('\uFFFD')).split('\n').length;
    return { ok: false, problem: { ...refusal(origin.path, 'is not UTF-8 text', stemOf(origin.path)), line } };
  }
}

function refusal(path: string, what: string, id = ''): Problem {
  return { path, line: 1, reason: `the ${id === '' ? 'directory' : 'file'} ${what}`, id };
}

function stemOf(path: string): string {
  return basename(path, '.md').toLowerCase();
}
