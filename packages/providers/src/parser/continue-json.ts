import type { OutputParser } from '@pawl/core/port/provider';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { field, parseObject } from '@pawl/wire/json-line';

/**
 * The output of `cn -p --format json`: one object at the end, with its last words. Errors are on stderr; it has no
 * session id and no tokens.
 */
export const continueJson: OutputParser = {
  parse: parseContinueLine,
  telling: ['"status"', '"response"'],
  conversation: ['"response"'],
};

/** Parses one line of Continue's output. An answer that is JSON itself is printed bare. */
function parseContinueLine(line: string): StreamEvent[] {
  const record = parseObject(line);
  const response = record === null ? null : field(record, 'response');
  if (typeof response !== 'string') return [{ type: 'unknown', text: line }];
  return [
    { type: 'text', text: response },
    { type: 'result', ok: true, text: response, fault: null },
  ];
}
