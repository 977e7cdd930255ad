import type { Session } from '@pawl/schema/record';
import type { Fault } from '@pawl/schema/stream-event';
import type { Verdict } from '../sessions/completion.ts';
import { firstLine } from '../shorten.ts';

/** How a session ended, as far as the mail in its hands is concerned. */
export type EndForMail = {
  /** It came to a good end, so it has heard its prompt. */
  well: boolean;
  /** It broke down by itself, and the mail may have been why. */
  blame: boolean;
  reason: string;
};

/** How much of the reason is told. */
const reasonCharacters = 200;

/**
 * What the end of a session means for the mail in its hands. Only a breakdown of its own counts against the mail: not a stop, a
 * cancelled run, a failure of ours, silence, a limit, a login, an error that passes, or a machine that went down.
 */
export function mailAtEnd(
  verdict: Verdict,
  { result, limitUntil }: Pick<Session, 'result' | 'limitUntil'>,
  end: { exitCode: number | null; failure: string | null; hung: boolean; fault: Fault | null; isWanted: boolean },
): EndForMail {
  const well = result?.ok === true || (result === null && end.exitCode === 0);
  const own = end.failure === null && !end.hung && (end.fault === null || end.fault === 'other') && end.isWanted;
  const failed = verdict.next === 'end' && verdict.outcome === 'failed' && limitUntil === null;
  const reason =
    verdict.next === 'end' ? firstLine(verdict.detail, reasonCharacters) : `the run goes on: ${verdict.next}`;
  return { well, blame: own && failed && !well, reason };
}
