import { PawlError } from '@pawl/schema/error';

/** Encodes a name from outside as one segment of a path. Empty names and dots would lead to another path. */
export function segment(noun: string, name: string): string {
  if (!/^\.{0,2}$/.test(name)) return encodeURIComponent(name);
  const code = noun === 'agent' ? 'agent_not_found' : 'not_found';
  throw new PawlError(code, `There is no ${noun} ${JSON.stringify(name)}.`);
}
