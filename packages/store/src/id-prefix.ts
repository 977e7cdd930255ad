import { storeLimits } from './store-limit.ts';

/** True for text that may abbreviate an id: long enough, and of the alphabet of ids. */
export function isIdPrefix(reference: string): boolean {
  return reference.length >= storeLimits.idPrefixCharacters && /^[A-Za-z0-9][A-Za-z0-9_-]{0,21}$/.test(reference);
}
