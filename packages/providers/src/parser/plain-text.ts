import type { OutputParser } from '@pawl/core/port/provider';

/** Unstructured output: every line is text, and says nothing about the session. */
export const plainText: OutputParser = {
  parse: (line) => [{ type: 'text', text: line }],
  telling: [],
  conversation: [],
};
