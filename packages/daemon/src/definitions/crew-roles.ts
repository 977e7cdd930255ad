import type { DefinitionPlatform } from './definition-platform.ts';
import { helperDefinition } from './helper.ts';

/** The roles of a project's crew: persistent mains that every project gets. */
export async function crewRoles({ definitions }: Pick<DefinitionPlatform, 'definitions'>): Promise<string[]> {
  const found = [...(await definitions.load(null)).definitions.values()];
  return found
    .filter(({ id, kind, class: life, sources }) => {
      const comesAlong = sources.some(({ layer }) => layer === 'built-in');
      return comesAlong && kind === 'main' && life === 'persistent' && id !== helperDefinition;
    })
    .map(({ id }) => id);
}
