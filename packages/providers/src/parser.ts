import type { OutputFormat, OutputParser } from '@pawl/core/port/provider';
import { parseClaudeLine } from './claude-stream-json.ts';

/** The parser for each output format. Plain text is its own meaning, and says nothing about the session. */
export const outputParsers: Record<OutputFormat, OutputParser> = {
  'claude-stream-json': {
    parse: parseClaudeLine,
    telling: ['"result"', '"rate_limit_event"'],
    conversation: ['"assistant"', '"user"', '"stream_event"'],
  },
  text: { parse: (line) => [{ type: 'text', text: line }], telling: [], conversation: [] },
};
