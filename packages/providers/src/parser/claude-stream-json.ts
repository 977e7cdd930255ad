import type { OutputParser } from '@pawl/core/port/provider';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { conversationTexts, parseLine, tellingTexts } from '@pawl/wire/claude-parser';
import { faultOf } from '../fault.ts';

/** Claude Code's stream-json; `@pawl/wire` knows the format. */
export const claudeStreamJson: OutputParser = {
  parse: parseClaudeLine,
  telling: tellingTexts,
  conversation: conversationTexts,
};

export function parseClaudeLine(line: string): StreamEvent[] {
  return parseLine(line, (status, text) => faultOf(status, text, 'limit'));
}
