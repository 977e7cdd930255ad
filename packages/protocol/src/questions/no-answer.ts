import { PawlError } from '@pawl/schema/error';
import type { QuestionView } from './view.ts';

/** The error for an unanswered question; each end has its own exit code. */
export function noAnswer({ end, reason, conversationId }: QuestionView): PawlError {
  const message = `${reason ?? 'There is no answer'}.`;
  const details = { conversationId, end };
  if (end === 'expired')
    return new PawlError('timeout', message, { hint: 'Continue without it, or ask again and wait longer.', details });
  if (end === 'not-now') {
    const hint = 'Continue with an assumption, and state it; you may ask again later.';
    return new PawlError('needs_input', message, { hint, details });
  }
  return new PawlError('conflict', message, {
    hint: 'This question can no longer be answered; see `pawl ps` for other agents.',
    details,
  });
}
