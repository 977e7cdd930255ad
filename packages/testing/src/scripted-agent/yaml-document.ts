import { parse } from 'yaml';

/**
 * Reads YAML. It is a module of its own so that the library is loaded only when it is needed, in a bundle as well: there
 * a dynamic import of the library itself would have no names.
 */
export function parseYaml(text: string): unknown {
  return parse(text);
}
