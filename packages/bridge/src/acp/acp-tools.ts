import { at, blockTexts, isObject, listAt, textAt, toJson } from '../json.ts';
import { bridgeLimits } from '../limit.ts';
import type { StreamWriter } from '../stream-writer.ts';
import type { AskedCall } from './acp-permission.ts';

type ToolCall = {
  name: string;
  kind: string;
  title: string;
  path: string;
  input: Record<string, unknown> | null;
  /** Every field of the input that was ever named: an approval must not hide one. */
  fields: Record<string, unknown>;
  told: boolean;
};

/**
 * The tool calls of a conversation. ACP describes a call in pieces, often the name first and the input later; it is
 * reported once, when its input is known or it starts, and its result once, when it ends.
 */
export class AcpTools {
  readonly #writer: StreamWriter;
  readonly #calls = new Map<string, ToolCall>();

  constructor(writer: StreamWriter) {
    this.#writer = writer;
  }

  /** Forgets the calls of the last turn. Reports those that never started. */
  clear(): void {
    for (const [id, call] of this.#calls) this.#tell(id, call);
    this.#calls.clear();
  }

  /** A call as far as it is known. */
  known(id: string): AskedCall {
    const call = this.#calls.get(id);
    if (call === undefined) return { name: 'other', kind: 'other', title: '', input: {} };
    return { name: nameOf(call), kind: call.kind || 'other', title: call.title, input: call.fields };
  }

  /** Adds a piece of information about a call. True if it was translated. */
  take(update: unknown): boolean {
    const id = textAt(update, 'toolCallId');
    const call = this.#extended(id, update);
    if (call === null) return false;
    const status = textAt(update, 'status');
    const hasEnded = status === 'completed' || status === 'failed';
    const wasTold = call.told;
    // A call that was just announced may lack part of its input.
    const isKnown = call.input !== null && at(update, 'sessionUpdate') === 'tool_call_update';
    if (isKnown || hasEnded || status === 'in_progress') this.#tell(id, call);
    if (hasEnded) {
      this.#calls.delete(id);
      this.#writer.toolResult(id, resultText(update), status === 'failed');
    }
    return hasEnded || wasTold !== call.told;
  }

  /** Adds a call that is about to start, or asks for permission: some agents report nothing else before its end. */
  begin(update: unknown): void {
    const id = textAt(update, 'toolCallId');
    const call = this.#extended(id, update);
    if (call !== null) this.#tell(id, call);
  }

  #extended(id: string, update: unknown): ToolCall | null {
    const known = this.#calls.get(id);
    if (known === undefined && this.#calls.size >= bridgeLimits.toolCalls) return null;
    const call = known ?? { name: '', kind: '', title: '', path: '', input: null, fields: {}, told: false };
    call.name = textAt(update, 'name') || metaName(at(update, '_meta')) || call.name;
    call.kind = textAt(update, 'kind') || call.kind;
    call.title = textAt(update, 'title') || call.title;
    call.path = textAt(update, 'locations', 0, 'path') || call.path;
    const input = at(update, 'rawInput');
    if (isObject(input) && Object.keys(input).length > 0) {
      call.input = input;
      call.fields = { ...call.fields, ...input };
    }
    this.#calls.set(id, call);
    return call;
  }

  #tell(id: string, call: ToolCall): void {
    if (call.told) return;
    call.told = true;
    this.#writer.countCall();
    this.#writer.toolUse(id, nameOf(call), call.input ?? inputFromTitle(call));
  }
}

/** Many agents report only a tool's kind, and for MCP tools not even that. */
function nameOf({ name, kind, title }: ToolCall): string {
  return name || (kind === 'other' ? title : kind) || title || 'other';
}

/** The fields in which agents send a tool's name: the first version of the protocol has none for it. */
function metaName(meta: unknown): string {
  return textAt(meta, 'toolName') || textAt(meta, 'claudeCode', 'toolName');
}

/** Agents without tool input put the command or the path into the title. */
function inputFromTitle({ kind, title, path }: ToolCall): Record<string, unknown> {
  if (kind === 'execute') return { command: title };
  return path === '' ? { title } : { path, title };
}

function resultText(update: unknown): string {
  const text = blockTexts(listAt(update, 'content'));
  if (text !== '') return text;
  const output = at(update, 'rawOutput');
  if (typeof output === 'string') return output;
  return textAt(output, 'output') || (isObject(output) ? toJson(output) : '');
}
