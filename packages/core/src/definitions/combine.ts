import type { Definition } from '@pawl/schema/definition';
import { definitionLayers } from '@pawl/schema/definition';
import type { DefinitionFile, Layer, Notice, Problem } from './definition-file.ts';
import { extend } from './narrow.ts';

export type Combined = { definitions: Map<string, Definition>; problems: Problem[]; notices: Notice[] };

/** One directory of a layer: its valid files by name, and the problems of the others. */
export type LayerFiles = { layer: Layer; files: DefinitionFile[]; problems: Problem[] };

/**
 * Merges the files of all directories into one definition per id. Directories of one layer keep their order. `trusted`
 * says whether a person trusted exactly this text of a repository's file.
 */
export function combine(places: LayerFiles[], trusted: (path: string, sha256: string) => boolean): Combined {
  const definitions = new Map<string, Definition>();
  const problems = places.flatMap((place) => place.problems);
  const notices: Notice[] = [];
  for (const layer of definitionLayers) {
    const seen = new Map<string, string>();
    for (const file of places.filter((place) => place.layer === layer).flatMap((place) => place.files)) {
      const { id } = file.definition;
      const earlier = seen.get(id);
      if (earlier !== undefined) {
        problems.push(duplicate(file, earlier));
        continue;
      }
      seen.set(id, file.path);
      notices.push(...file.notices);
      const base = definitions.get(id);
      if (base === undefined) {
        definitions.set(id, file.definition);
        continue;
      }
      const extended = extend(base, file, layer !== 'repository' || trusted(file.path, file.sha256));
      definitions.set(id, extended.definition);
      notices.push(...extended.notices);
    }
  }
  for (const id of brokenByPerson(places)) definitions.delete(id);
  return { definitions, problems, notices };
}

/**
 * A broken user file may have contained a restriction, so its definition is unavailable until it is fixed, rather than
 * have more rights than intended.
 */
function brokenByPerson(places: LayerFiles[]): string[] {
  return places.filter(({ layer }) => layer === 'user').flatMap(({ problems }) => problems.map(({ id }) => id));
}

function duplicate({ path, definition: { id }, stated }: DefinitionFile, earlier: string): Problem {
  return { path, line: stated.name ?? 1, reason: `${id} is already defined by ${earlier}; this file is not used`, id };
}
