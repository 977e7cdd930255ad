import { PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../../context.ts';
import { plainJson } from '../../context.ts';
import { untilAnswered } from '../../daemon/resend.ts';

/** Answers a question. Idempotent, so it is repeated if the daemon dies. */
export async function answer(
  context: CommandContext,
  text: string,
  { conversationId }: { conversationId: string },
): Promise<number> {
  if (text.trim() === '') throw new PawlError('usage', 'The answer is empty.');
  const answered = await untilAnswered(context.home, (client) => client.answer(conversationId, { answer: text }));
  context.answer('answered', answered, () => plainJson(answered));
  return 0;
}
