import type { Combined, LayerFiles } from '@pawl/core/definitions/combine';
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

/** The parts of a project that definitions need. */
export type DefiningProject = { id: string; root: string };

export type LoadedDefinitions = Combined & {
  /** All valid files, each with the hash that `isTrusted` checks. */
  files: { id: string; layer: Layer; path: string; sha256: string }[];
};

export type Definitions = {
  /** All definitions on disk now, including those of the project's repository. */
  load(project: DefiningProject | null): Promise<LoadedDefinitions>;
  /** Throws `not_found` with the available ids, or with the error in the file. */
  find(project: DefiningProject | null, id: string): Promise<Definition>;
};

/** The directories of a repository's definitions, highest precedence first. */
const repositoryPlaces = [
  { folder: join('.pawl', 'agents'), flavour: 'pawl' },
  { folder: join('.multiclaude', 'agents'), flavour: 'multiclaude' },
  { folder: 'agents', flavour: 'shared' },
  { folder: join('.claude', 'agents'), flavour: 'claude' },
] as const;

/**
 * The definitions of a home and its projects. Watches nothing: each call reads the directories, so results are always
 * current, and unchanged files are not parsed again.
 */
export function createDefinitions(given: {
  /** The directory of built-in definitions. */
  builtIn: string;
  /** The directory of the person's definitions. */
  user: string;
  /** True if the person allows a repository's file with exactly this text to widen other definitions. */
  isTrusted: (projectId: string, path: string, sha256: string) => boolean | Promise<boolean>;
  now?: () => number;
}): Definitions {
  const knownByDirectory = new Map<string, KnownFiles>();
  let yaml: Promise<ReadYaml> | undefined;
  const reader = { readYaml: () => (yaml ??= loadReadYaml()), now: given.now ?? Date.now };

  const readPlaces = async (directories: DefinitionDirectory[]): Promise<LayerFiles[]> => {
    const places: LayerFiles[] = [];
    const seen = new Set<string>();
    for (const directory of directories) {
      const place = await locate(directory);
      if (typeof place !== 'string') {
        knownByDirectory.delete(directory.path);
        if (place !== null) places.push({ layer: directory.layer, files: [], problems: [place] });
        continue;
      }
      // Two names for one directory must not report every file in it as a duplicate.
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

/** The definition directories of a repository's work tree; none if it is gone or bare. */
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
      hint: 'Correct the file and try again; it is read again each time.',
      details: { problem },
    });
  }
  const known = [...definitions.keys()].toSorted();
  return new PawlError('not_found', `There is no definition ${JSON.stringify(id.slice(0, 80))}.`, {
    hint: `There are: ${known.join(', ') || 'none'}. A new one is a markdown file in .pawl/agents.`,
    details: { known },
  });
}
