import { liveState } from '@pawl/core/sessions/live';
import type { PieceMask } from '@pawl/host/output/piece-mask';
import { createPieceMask } from '@pawl/host/output/piece-mask';
import type { LiveState } from '@pawl/schema/status';
import type { StreamEvent } from '@pawl/schema/stream-event';
import type { Shown } from './batch.ts';
import { kept } from './said-message.ts';

/** The text that a session is in the middle of. */
export type Speech = {
  /** A secret may span several pieces. */
  readonly mask: PieceMask;
  /** Pieces of a text that never comes whole. */
  pieces: string;
  /** The last status that was shown, and the batch that contains it. */
  status?: { live: LiveState; batch: Shown[] };
};

export function beginSpeech(secrets: readonly string[]): Speech {
  return { mask: createPieceMask(secrets), pieces: '' };
}

/** Events that may come in the middle of a text. */
const besideText: readonly StreamEvent['type'][] = ['usage', 'session', 'context-usage'];

/** Adds what followers see of an event, and returns the agent's activity after it. */
export function show(
  speech: Speech,
  event: StreamEvent,
  before: LiveState | undefined,
  shown: Shown[],
): LiveState | undefined {
  const live = liveState(event, before);
  const isPiece = event.type === 'text-delta' || (event.type === 'text' && event.piece === true);
  if (!isPiece && !besideText.includes(event.type)) endText(speech, shown);
  if (live !== null) addStatus(speech, shown, live);
  if (isPiece) {
    const text = speech.mask.push(event.text);
    addToken(shown, text);
    if (event.type === 'text') speech.pieces = kept(speech.pieces + text);
  } else if (event.type === 'text' && event.text !== '') shown.push({ type: 'message', text: kept(event.text) });
  else if (event.type === 'context-usage') shown.push({ type: 'context', usage: event.usage });
  return live ?? before;
}

/** Shows the rest of a text that came in pieces, and the whole of one that only comes so. */
function endText(speech: Speech, shown: Shown[]): void {
  const rest = speech.mask.end();
  addToken(shown, rest);
  if (speech.pieces !== '') shown.push({ type: 'message', text: kept(speech.pieces + rest) });
  speech.pieces = '';
}

/** Joins pieces, so that followers get few events. */
function addToken(shown: Shown[], text: string): void {
  const last = shown.at(-1);
  if (text === '') return;
  if (last?.type === 'token') last.text += text;
  else shown.push({ type: 'token', text });
}

/** Leaves out a status that the last one of the same batch already says. */
function addStatus(speech: Speech, shown: Shown[], live: LiveState): void {
  const last = speech.status?.batch === shown ? speech.status.live : undefined;
  if (last?.live === live.live && last.tool === live.tool && live.tool === undefined) return;
  shown.push({ type: 'status', live });
  speech.status = { live, batch: shown };
}
