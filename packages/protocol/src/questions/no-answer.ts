import { PawlError } from '@pawl/schema/error';
import type { QuestionView } from './view.ts';

/** The error for an unanswered question; each end has its own exit code. */
export function noAnswer({ end, reason, conversationId }: QuestionView): PawlError {
  const message = `${reason ?? 'There is no answer'}.`;
  const details = { conversationId, end };
  if (end === 'expired')
    return new PawlError('timeout', message, { hint: 'Go on without it, or ask again and wait longer.', details });
  if (end === 'not-now') {
    const hint = 'Go on with what you assume, and name it; what is left open can be asked again later.';
    return new PawlError('needs_input', message, { hint, details });
  }
  return new PawlError('conflict', message, { hint: 'Nobody answers this any more; see who else is there.', details });
}
