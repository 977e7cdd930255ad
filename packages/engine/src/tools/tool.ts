import type * as z from 'zod';
import type { ImagePart } from '../conversation/message.ts';
import type { Commands } from './commands.ts';
import type { FileMemory } from './file-memory.ts';

/** The context that each tool gets. */
export type ToolContext = {
  /** The canonical path of the workspace. */
  root: string;
  signal: AbortSignal;
  files: FileMemory;
  commands: Commands;
  todo: { items: TodoItem[] };
};

export type TodoItem = { text: string; status: 'pending' | 'in_progress' | 'completed' };

export type ToolOutcome = {
  text: string;
  isError: boolean;
  images?: ImagePart[];
  /** True for a search without a result. */
  foundNothing?: boolean;
};

/** The request that the gate decides about: a canonical tool name, and the words that Pawl's rules read. */
export type GateRequest = { tool: string; title: string; input: Record<string, unknown> };

/** A tool that the model may call. `describe` is pure; the gate calls it before anything runs. */
export type Tool<Input = unknown> = {
  name: string;
  description: string;
  input: z.ZodType<Input>;
  /** The schema that the model sees, if it is not made from `input`. */
  inputSchema?: Record<string, unknown>;
  /** The name that the gate and the lists of tools know, if it is another. */
  gateName?: string;
  /** True if calls in one answer may run at the same time. */
  parallel?: boolean;
  describe(input: Input): Omit<GateRequest, 'tool'>;
  run(input: Input, context: ToolContext): Promise<ToolOutcome>;
};

export function done(text: string): ToolOutcome {
  return { text, isError: false };
}

export function failed(text: string): ToolOutcome {
  return { text, isError: true };
}
