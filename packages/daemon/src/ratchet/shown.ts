import { gateLimits } from '@pawl/core/ratchet/gate-limit';
import { cutText } from '@pawl/core/shorten';

/** A name or a line of somebody else's, as one line that says nothing to a terminal. */
export function shown(text: string): string {
  return cutText(text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?'), gateLimits.shownCharacters);
}
