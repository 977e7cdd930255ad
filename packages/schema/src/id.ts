import * as z from 'zod';

/** A UUID in 22 base64url characters. Never starts with `-` or `_`, so it is safe on a command line. */
export const idSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{21}$/, 'an id is 22 base64url characters');

/** The alphabet of agent, project and definition names, everywhere. */
export const nameSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'a name is 1 to 64 of a-z 0-9 . _ - and starts with a letter or digit')
  .refine(
    (name) => !name.includes('..') && !name.endsWith('.') && !name.endsWith('.lock'),
    'a name has no "..", and does not end in "." or ".lock"',
  );

/** Encodes the 16 bytes of a UUID as 22 base64url characters. */
export function encodeId(bytes: Uint8Array): string {
  if (bytes.length !== 16) throw new RangeError(`an id has 16 bytes, not ${bytes.length}`);
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .slice(0, 22);
}

/** A fresh random id (UUID version 4). The edge calls this; `core` takes ids as arguments. */
export function newId(): string {
  for (;;) {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const id = encodeId(bytes);
    if (/^[A-Za-z0-9]/.test(id)) return id;
  }
}

/** An id in the usual UUID notation. */
export function uuidOf(id: string): string {
  const binary = atob(id.replaceAll('-', '+').replaceAll('_', '/'));
  const hex = Array.from(binary, (character) => character.charCodeAt(0).toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Reverses `uuidOf`; null for other UUIDs. */
export function idOfUuid(uuid: string): string | null {
  const hex = uuid.replaceAll('-', '');
  if (!/^[0-9a-f]{32}$/i.test(hex)) return null;
  return encodeId(
    Uint8Array.from({ length: 16 }, (_, index) => Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16)),
  );
}
