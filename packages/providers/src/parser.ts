import type { LineParser, OutputFormat } from '@pawl/core/port/provider';
import { parseClaudeLine } from './claude-stream-json.ts';

/** The parser for each output format. Plain text is its own meaning. */
export const lineParsers: Record<OutputFormat, LineParser> = {
  'claude-stream-json': parseClaudeLine,
  text: (line) => [{ type: 'text', text: line }],
};
