import { failed, statusInWords } from '../fault.ts';
import { at, textAt, toJson } from '../json.ts';
import { messageOf } from '@pawl/schema/error';
import type { TurnEnd } from '../stream-writer.ts';

/** The error code for a missing login. */
const authRequired = -32000;

/** Classifies a turn that was answered with an error. Agents put the cause into the code, the data or the message. */
export function acpFailure(error: unknown): TurnEnd {
  const text = acpErrorText(error);
  return failed(text, statusOf(at(error, 'code'), at(error, 'data'), text));
}

/** The text of an error, with the detail that agents put beside "Internal error". */
export function acpErrorText(error: unknown): string {
  const data = at(error, 'data');
  const detail = typeof data === 'string' ? data : textAt(data, 'message') || textAt(data, 'details');
  return [messageOf(error), detail].filter((part) => part !== '').join(': ');
}

function statusOf(code: unknown, data: unknown, text: string): number | null {
  if (code === authRequired) return 401;
  if (typeof code === 'number' && code >= 400 && code < 600) return code;
  if (textAt(data, 'errorKind') === 'rate_limit') return 429;
  return statusInWords(`${text} ${toJson(data)}`);
}

/** Some agents complete a turn and put the error into their text. */
export function failureInText(text: string): TurnEnd | null {
  const [, status] = /^\s*Error: (\d{3})\b/.exec(text) ?? [];
  return status === undefined ? null : failed(text.trim(), Number(status));
}
