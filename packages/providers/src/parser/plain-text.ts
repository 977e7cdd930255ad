import type { OutputParser } from '@pawl/core/port/provider';

/** Output without structure: every line is its own meaning, and says nothing about the session. */
export const plainText: OutputParser = {
  parse: (line) => [{ type: 'text', text: line }],
  telling: [],
  conversation: [],
};
