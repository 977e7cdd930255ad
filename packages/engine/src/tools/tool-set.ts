import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { messageOf, PawlError } from '@pawl/schema/error';
import * as z from 'zod';
import { bash, bashOutput } from './bash.ts';
import { edit } from './edit.ts';
import { glob } from './glob.ts';
import { grep } from './grep.ts';
import { read } from './read.ts';
import { repoInfo } from './repo-info.ts';
import { todo } from './todo.ts';
import type { GateRequest, Tool, ToolContext, ToolOutcome } from './tool.ts';
import { failed } from './tool.ts';
import { captureScreenshot } from './screenshot.ts';
import { webFetch } from './web-fetch.ts';
import { write } from './write.ts';

/** Every tool, by its canonical name. */
export const allTools: readonly Tool[] = [
  read,
  write,
  edit,
  bash,
  bashOutput,
  glob,
  grep,
  todo,
  repoInfo,
  webFetch,
  captureScreenshot,
];

/** A checked call, ready to run once the gate has allowed it. */
export type PreparedCall = {
  tool: Tool;
  request: GateRequest;
  run(context: ToolContext): Promise<ToolOutcome>;
};

export type PrepareResult = PreparedCall | { problem: string; kind: 'unknown-tool' | 'invalid-input' };

/** Finds the tool of a call and checks its input. Never throws. */
export function prepareCall(tools: readonly Tool[], name: string, input: unknown): PrepareResult {
  const wanted = (otherNames.get(name.toLowerCase()) ?? name).toLowerCase();
  const tool = tools.find((each) => each.name === name) ?? tools.find((each) => each.name.toLowerCase() === wanted);
  if (tool === undefined) {
    const offered = tools.map((each) => each.name).join(', ');
    return { kind: 'unknown-tool', problem: `There is no tool ${name.slice(0, 100)}. Available are: ${offered}.` };
  }
  if (typeof input === 'string') {
    return { kind: 'invalid-input', problem: `The input of ${tool.name} is not a JSON object.` };
  }
  const parsed = tool.input.safeParse(withoutAliases(tool, input));
  if (!parsed.success) {
    const problem = `The input of ${tool.name} is invalid:\n${z.prettifyError(parsed.error)}`;
    return { kind: 'invalid-input', problem: problem.slice(0, 2_000) };
  }
  const request = { tool: tool.gateName ?? tool.name, ...tool.describe(parsed.data) };
  return { tool, request, run: (context) => runSafely(tool, parsed.data, context) };
}

/** An error of a tool is a result for the model, unless the turn was stopped. */
async function runSafely(tool: Tool, input: unknown, context: ToolContext): Promise<ToolOutcome> {
  try {
    return await tool.run(input, context);
  } catch (error) {
    context.signal.throwIfAborted();
    const hint = error instanceof PawlError && error.hint !== undefined ? ` ${error.hint}` : '';
    return failed(`${messageOf(error)}${hint}`);
  }
}

/** Tools that models know by another name. */
const otherNames = new Map([
  ['delegate_to_agent', 'Delegate'],
  ['multiedit', 'Edit'],
]);

/** Other names of fields that models use, by the right one. */
const aliases: Record<string, string[]> = {
  path: ['file_path', 'file', 'filepath', 'filePath'],
  command: ['cmd'],
  query: ['pattern'],
  target: ['target_agent_id'],
};

function withoutAliases({ name: tool, inputSchema }: Tool, input: unknown): unknown {
  // The fields of a foreign tool are its own.
  if (inputSchema !== undefined) return input;
  if (input === null || typeof input !== 'object') return input;
  const given: Record<string, unknown> = { ...input };
  for (const [name, others] of Object.entries(aliases)) {
    for (const other of others) {
      if (!Object.hasOwn(given, other) || Object.hasOwn(given, name)) continue;
      given[name] = given[other];
      delete given[other];
    }
  }
  return tool === 'Edit' ? withEdits(given) : given;
}

/** A single replacement may stand beside the path. */
function withEdits(given: Record<string, unknown>): Record<string, unknown> {
  if ('edits' in given || !('old_string' in given)) return given;
  const { path, ...replacement } = given;
  return { path, edits: [replacement] };
}

/** The tools as a model sees them. The schemas cost milliseconds, so a turn makes them once. */
export function offeredTools(tools: readonly Tool[]): LanguageModelV4FunctionTool[] {
  return tools.map(({ name, description, input, inputSchema: given }) => {
    const { $schema: _, ...inputSchema } = given ?? z.toJSONSchema(input, { io: 'input' });
    return {
      type: 'function',
      name,
      description,
      inputSchema: inputSchema as LanguageModelV4FunctionTool['inputSchema'],
    };
  });
}
