import type { Session } from '@pawl/schema/record';
import type { Fault } from '@pawl/schema/stream-event';
import type { Verdict } from '../sessions/completion.ts';
import { firstLine } from '../shorten.ts';

/** How a session ended, as far as its claimed mail is concerned. */
export type EndForMail = {
  /** It ended well, so its prompt was read. */
  well: boolean;
  /** It crashed by itself, and the mail may be the cause. */
  blame: boolean;
  reason: string;
};

const reasonCharacters = 200;

/**
 * Decides what a session's end means for its claimed mail. Only a crash of its own counts against the mail: not a stop,
 * a cancelled run, a failure of Pawl, silence, a limit, a login, a transient error or a machine crash.
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
    verdict.next === 'end' ? firstLine(verdict.detail, reasonCharacters) : `the run continues: ${verdict.next}`;
  return { well, blame: own && failed && !well, reason };
}
