import type { StepValues } from '../scenario.ts';
import type { StepPlayer } from '../play.ts';
import { success } from '../play.ts';
import { inSession, rateLimitLine } from '@pawl/wire/claude-line';
import { replaceWorkspaceFile, signalPath } from '../workspace-file.ts';

/** Ends the turn; the next line on stdin begins another one. */
export const playWait: StepPlayer<'wait'> = async (play) => ({ after: 'turn', result: success(play.writer.lastText) });

/** Says that the work is done, to Pawl and on the stream, and ends the process. */
export const playComplete: StepPlayer<'complete'> = async (play, { summary }) => {
  if (summary !== undefined) await play.writer.say(summary);
  const result = summary ?? play.writer.lastText;
  replaceWorkspaceFile(play.directory, signalPath, `${JSON.stringify({ status: 'done', result })}\n`);
  return { after: 'exit', code: 0, result: success(result) };
};

/** Ends the process without a word. */
export const playCrash: StepPlayer<'crash'> = async (_play, { code, signal }) =>
  signal === undefined ? { after: 'exit', code: code ?? 1, result: undefined } : { after: 'kill', signal };

/** Does nothing for ever. Only a signal ends it, and with `ignore_term` only a signal that cannot be ignored. */
export const playHang: StepPlayer<'hang'> = (play, { ignore_term, once }) => {
  play.ignoresSignals = ignore_term;
  if (once) {
    play.conversation.next += 1;
    play.save();
  }
  setInterval(() => {}, 60_000);
  return new Promise(() => {});
};

/** Runs into a usage limit and ends the process, as Claude Code does. */
export const playLimit: StepPlayer<'limit'> = async (play, { until }) => {
  const resetsAt = until === undefined ? undefined : secondsOf(until);
  await play.writer.output.writeLine(
    inSession(rateLimitLine(resetsAt ?? null, 'five_hour'), play.writer.speaker.sessionId),
  );
  const text =
    resetsAt === undefined
      ? 'API Error: Request rejected (429) · This request would exceed your usage limit.'
      : `You've hit your 5-hour limit · resets ${clockTime(resetsAt)} (UTC)`;
  return { after: 'exit', code: 1, result: { subtype: 'success', isError: true, text, apiErrorStatus: 429 } };
};

/** Ends the process with an error of the model's service, as Claude Code reports one. */
export const playFail: StepPlayer<'fail'> = async (_play, { status, text }) => ({
  after: 'exit',
  code: 1,
  result: { subtype: 'success', isError: true, text, ...(status === undefined ? {} : { apiErrorStatus: status }) },
});

function secondsOf(until: NonNullable<StepValues['limit']['until']>): number {
  return 'seconds' in until ? until.seconds : Math.round((Date.now() + until.afterMs) / 1000);
}

/** A time of day the way Claude Code writes it, such as `5:41am`. */
function clockTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  const hours = date.getUTCHours();
  const minutes = String(date.getUTCMinutes()).padStart(2, '0');
  return `${hours % 12 === 0 ? 12 : hours % 12}:${minutes}${hours < 12 ? 'am' : 'pm'}`;
}
