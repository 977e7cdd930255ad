import type { WorkMode } from '@pawl/schema/record';
import { endsTurnByResult } from '../agents/work-mode.ts';

/** The prompt of a turn that mail starts; the mail itself is added separately. */
export function taskOfMail({ mode }: { mode: WorkMode }, hasQuestion: boolean): string {
  const end = endsTurnByResult(mode) ? 'end your turn' : 'say that you are done';
  return hasQuestion
    ? `Another agent waits for your answer to the question below. Answer it with \`pawl answer\`, check with
\`pawl listen\` for more questions and answer those too, and then ${end}.`
    : `You have new mail; see below. Do what it needs of you, reply with \`pawl send\` if that helps its sender, and
then ${end}. If there is nothing to do, ${end}.`;
}
