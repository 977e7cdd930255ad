import type { Combined, Place } from '@pawl/core/definitions/combine';
import { combine } from '@pawl/core/definitions/combine';
import type { Layer, Problem } from '@pawl/core/definitions/definition-file';
import type { ReadYaml } from '@pawl/core/definitions/front-matter';
import type { Definition } from '@pawl/schema/definition';
import { hasErrno, PawlError } from '@pawl/schema/error';
import { lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { DefinitionDirectory, KnownFiles } from './definition-directory.ts';
import { locate, readDirectory } from './definition-directory.ts';
import { loadReadYaml } from './read-yaml.ts';

/** A project as far as its definitions are concerned. */
export type DefiningProject = { id: string; root: string };

export type LoadedDefinitions = Combined & {
  /** Every good file that was found, with what identifies its text to `isTrusted`. */
  files: { id: string; layer: Layer; path: string; sha256: string }[];
};

export type Definitions = {
  /** All definitions as they are on disk now, those of a project's repository among them. */
  load(project: DefiningProject | null): Promise<LoadedDefinitions>;
  /** The one with this id. Throws `not_found` with what there is instead, or with what is wrong with its file. */
  find(project: DefiningProject | null, id: string): Promise<Definition>;
};

/** Where a repository keeps definitions, the first place first. */
const repositoryPlaces = [
  { folder: join('.pawl', 'agents'), flavour: 'pawl' },
  { folder: join('.multiclaude', 'agents'), flavour: 'multiclaude' },
  { folder: 'agents', flavour: 'shared' },
  { folder: join('.claude', 'agents'), flavour: 'claude' },
] as const;

/**
 * The definitions of a home and its projects. Nothing is watched: the directories are read whenever somebody asks, so what
 * is answered is never older than the question, and unchanged files are not parsed again.
 */
export function createDefinitions(given: {
  /** The directory of the definitions that Pawl brings along. */
  builtIn: string;
  /** The directory of the person's own. */
  user: string;
  /** Whether the person trusts a repository's file with exactly this text to widen what others have defined. */
  isTrusted: (projectId: string, path: string, sha256: string) => boolean | Promise<boolean>;
  now?: () => number;
}): Definitions {
  const knownByDirectory = new Map<string, KnownFiles>();
  let yaml: Promise<ReadYaml> | undefined;
  const reader = { readYaml: () => (yaml ??= loadReadYaml()), now: given.now ?? Date.now };

  const readPlaces = async (directories: DefinitionDirectory[]): Promise<Place[]> => {
    const places: Place[] = [];
    const seen = new Set<string>();
    for (const directory of directories) {
      const place = await locate(directory);
      if (typeof place !== 'string') {
        knownByDirectory.delete(directory.path);
        if (place !== null) places.push({ layer: directory.layer, files: [], problems: [place] });
        continue;
      }
      // Two names for one directory are no reason to complain about every file in it.
      if (seen.has(place)) continue;
      seen.add(place);
      const known: KnownFiles = knownByDirectory.get(directory.path) ?? new Map();
      knownByDirectory.set(directory.path, known);
      places.push(await readDirectory(directory, place, known, reader));
    }
    return places;
  };

  const load = async (project: DefiningProject | null): Promise<LoadedDefinitions> => {
    const places = await readPlaces([
      { path: given.builtIn, layer: 'built-in', flavour: 'pawl', within: null },
      { path: given.user, layer: 'user', flavour: 'pawl', within: null },
      ...(project === null ? [] : await repositoryDirectories(project.root)),
    ]);
    const files = places.flatMap((place) =>
      place.files.map(({ layer, path, sha256, definition: { id } }) => ({ id, layer, path, sha256 })),
    );
    const trusted = new Set<string>();
    for (const { layer, path, sha256 } of files) {
      if (project === null || layer !== 'repository') continue;
      if (await given.isTrusted(project.id, path, sha256)) trusted.add(path);
    }
    return { ...combine(places, (path) => trusted.has(path)), files };
  };

  return {
    load,
    async find(project, id) {
      const { definitions, problems } = await load(project);
      const definition = definitions.get(id);
      if (definition === undefined) throw notFound(id, definitions, problems);
      return definition;
    },
  };
}

/** The directories of a repository's work tree; none when it is gone, or has no work tree. */
async function repositoryDirectories(root: string): Promise<DefinitionDirectory[]> {
  try {
    await lstat(join(root, '.git'));
    const within = await realpath(root);
    return repositoryPlaces.map(({ folder, flavour }) => ({
      path: join(root, folder),
      layer: 'repository',
      flavour,
      within,
    }));
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) return [];
    throw error;
  }
}

function notFound(id: string, definitions: Map<string, Definition>, problems: Problem[]): PawlError {
  const problem = problems.find((each) => each.id === id);
  if (problem !== undefined) {
    const where = `${problem.path}:${problem.line}`;
    return new PawlError('not_found', `The definition ${id} cannot be used: ${where}: ${problem.reason}.`, {
      hint: 'Correct the file and try again; it is read anew each time.',
      details: { problem },
    });
  }
  const known = [...definitions.keys()].toSorted();
  return new PawlError('not_found', `There is no definition ${JSON.stringify(id.slice(0, 80))}.`, {
    hint: `There are: ${known.join(', ') || 'none'}. A new one is a markdown file in .pawl/agents.`,
    details: { known },
  });
}
