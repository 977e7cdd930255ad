import { gateLimits } from '@pawl/core/guard/gate-limit';
import { cutText } from '@pawl/core/shorten';

/** Foreign text as one line without terminal escapes. */
export function shown(text: string): string {
  return cutText(text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?'), gateLimits.shownCharacters);
}
