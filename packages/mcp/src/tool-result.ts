import type { CallToolResult } from '@modelcontextprotocol/server';
import { messageOf, PawlError } from '@pawl/schema/error';
import type { ToolAnswer } from './tool.ts';

/** A tool's answer, as an object and as text. */
export function answered(answer: ToolAnswer): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
}

/** Every failure in one shape that a model can read: what went wrong, and what to do next. */
export function failed(error: unknown): CallToolResult {
  const known = error instanceof PawlError ? error : new PawlError('internal', messageOf(error));
  const { code, message, hint } = known;
  const text = hint === undefined ? `${code}: ${message}` : `${code}: ${message}\n${hint}`;
  return {
    isError: true,
    content: [{ type: 'text', text }],
    structuredContent: { error: { code, message, ...(hint === undefined ? {} : { hint }) } },
  };
}
