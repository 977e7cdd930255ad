import type { ApprovalAnswer } from './approval-line.ts';
import { parseApprovalAnswer } from './approval-line.ts';
import { field, list, parseObject, text } from './json-line.ts';

/** A user turn. `uuid` is the sender's id for it, which its echo repeats. */
export type UserTurn = { text: string; uuid: string | null };

/** A control request, which is answered out of turn. */
export type ControlRequest = { requestId: string; subtype: string };

export type InputLine =
  | { turn: UserTurn }
  | { control: ControlRequest }
  | { answer: ApprovalAnswer }
  | { refused: string };

/** A user turn as one line of input. */
export function userTurnLine(content: string, uuid?: string): string {
  return `${JSON.stringify({ type: 'user', message: { role: 'user', content }, uuid })}\n`;
}

/** Parses a line of input: a user turn, with text or content blocks, a control request, or the answer to a request for approval. Never throws. */
export function parseInput(line: string): InputLine {
  const record = parseObject(line.trimStart());
  if (record === null) return { refused: 'it is no JSON object' };
  if (field(record, 'type') === 'control_request') {
    const subtype = text(field(record, 'request', 'subtype'));
    return { control: { requestId: text(field(record, 'request_id')), subtype } };
  }
  const answer = parseApprovalAnswer(record);
  if (answer !== null) return { answer };
  if (field(record, 'type') !== 'user') return { refused: 'its type is neither "user" nor "control_request"' };
  const content = field(record, 'message', 'content');
  const uuid = text(field(record, 'uuid')) || null;
  if (typeof content === 'string') return { turn: { text: content, uuid } };
  if (!Array.isArray(content)) return { refused: 'message.content is neither text nor a list of blocks' };
  const texts = list(content)
    .filter((block) => field(block, 'type') === 'text')
    .map((block) => field(block, 'text'));
  if (!texts.every((each) => typeof each === 'string')) return { refused: 'a text block has no text' };
  if (texts.length === 0) return { refused: 'message.content has no text block' };
  return { turn: { text: texts.join('\n'), uuid } };
}
