import { PawlError } from '@pawl/schema/error';

/** The variable that every process of a session inherits. */
export const markerVariable = 'PAWL_SESSION';

/** Refuses a marker that is unsafe in an environment or could be part of another one. */
export function checkMarker(marker: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{7,63}$/.test(marker)) return;
  throw new PawlError('invalid_input', 'A session marker has 8 to 64 of A-Z a-z 0-9 _ -.', {
    hint: "Use the session's id.",
  });
}
