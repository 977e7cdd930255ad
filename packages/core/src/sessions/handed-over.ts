import type {
  AssistantMessage,
  AssistantPart,
  ConversationMessage,
  ToolCall,
  ToolResult,
} from '@pawl/schema/conversation/message';
import { conversationMessageSchema } from '@pawl/schema/conversation/message';
import type { Message } from '@pawl/schema/record';
import { toolIdOf } from '../agents/history.ts';

/**
 * Translates the conversation of an agent, whichever providers it was held with, into messages for any model.
 * `conversation` is what `conversationOf` returns; `bodies` are the whole messages by id, where the text has less. Gives
 * each call an id of its own, and puts results right after their calls: models accept no other order.
 */
export function handedOver(
  conversation: readonly Message[],
  bodies: ReadonlyMap<number, string>,
): ConversationMessage[] {
  const order = new Order();
  for (const rows of answers(conversation)) {
    const [first] = rows;
    if (first === undefined) continue;
    if (first.kind === 'assistant' || first.kind === 'tool_call') order.answer(answerOf(rows, bodies));
    else if (first.kind === 'tool_result') order.result(toolIdOf(first), resultOf(first, bodies));
    else order.say(saidOf(first));
  }
  return order.end();
}

/** Groups the rows of one answer of the engine; any other row is alone. */
function answers(conversation: readonly Message[]): Message[][] {
  const groups: Message[][] = [];
  for (const row of conversation) {
    const name = row.data?.['answer'];
    const last = groups.at(-1);
    if (name !== undefined && last?.[0]?.data?.['answer'] === name && last[0].sessionId === row.sessionId) {
      last.push(row);
    } else groups.push([row]);
  }
  return groups;
}

/** The whole answer, if its last row is there; else what its rows tell. Calls that are no longer remembered go. */
function answerOf(rows: readonly Message[], bodies: ReadonlyMap<number, string>): AssistantMessage {
  const last = rows.at(-1);
  const whole = last === undefined ? null : bodyOf(bodies.get(last.id));
  const named = last?.data?.['answer'] !== undefined;
  if (named && whole?.role === 'assistant') {
    const known = new Set(rows.map(toolIdOf));
    const parts = whole.parts.filter((part) => part.type !== 'tool-call' || known.has(part.id));
    // Vendors refuse reasoning without the call that it led to.
    return { ...whole, parts: parts.length === whole.parts.length ? parts : parts.filter(isNoReasoning) };
  }
  return { role: 'assistant', parts: rows.map((row) => partOf(row, bodies)), author: '' };
}

function isNoReasoning({ type }: AssistantPart): boolean {
  return type !== 'reasoning';
}

function partOf(row: Message, bodies: ReadonlyMap<number, string>): AssistantPart {
  if (row.kind === 'assistant') return { type: 'text', text: row.content };
  const body = bodyOf(bodies.get(row.id));
  const call = body?.role === 'assistant' ? body.parts.find((part) => part.type === 'tool-call') : undefined;
  if (call !== undefined) return { ...call, name: plainName(call.name) };
  const name = row.data?.['name'];
  const told = typeof name === 'string' && row.content.startsWith(`${name} `) ? row.content.slice(name.length + 1) : '';
  return {
    type: 'tool-call',
    id: toolIdOf(row),
    name: plainName(typeof name === 'string' ? name : 'tool'),
    input: { input: told },
  };
}

/** A name that every vendor accepts. */
function plainName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'tool';
}

function resultOf(row: Message, bodies: ReadonlyMap<number, string>): ToolResult {
  const body = bodyOf(bodies.get(row.id));
  if (body?.role === 'tool-result') return body;
  const isError = row.data?.['isError'] === true;
  return { role: 'tool-result', callId: toolIdOf(row), name: 'tool', text: row.content, images: [], isError };
}

function saidOf({ kind, content }: Message): ConversationMessage {
  if (kind === 'summary') return { role: 'summary', text: content };
  const text = kind === 'system' ? `Note of Pawl, not of a person: ${content}` : content;
  return { role: 'user', parts: [{ type: 'text', text }], uuid: null };
}

/** A stored body, or null: it came from the output of a program, so it may be anything. */
function bodyOf(body: string | undefined): ConversationMessage | null {
  if (body === undefined) return null;
  try {
    return conversationMessageSchema.safeParse(JSON.parse(body)).data ?? null;
  } catch {
    return null;
  }
}

/** Orders the messages of a conversation: each result after the answer with its call, nothing in between. */
class Order {
  readonly #messages: ConversationMessage[] = [];
  readonly #used = new Set<string>();
  /** Open calls by their id on record, oldest first. */
  readonly #open: { id: string; call: ToolCall }[] = [];
  /** Messages that came while a tool ran. */
  #later: (() => void)[] = [];

  answer(message: AssistantMessage): void {
    const last = this.#messages.at(-1);
    // The parts of a CLI's answer come one by one.
    if (message.author === '' && last?.role === 'assistant' && last.author === '') {
      last.parts.push(...this.#named(message.parts));
    } else this.#orLater(() => this.#messages.push({ ...message, parts: this.#named(message.parts) }));
  }

  result(id: string, result: ToolResult): void {
    const index = this.#open.findIndex((each) => each.id === id);
    const [found] = index === -1 ? [] : this.#open.splice(index, 1);
    if (found === undefined) return;
    this.#messages.push({ ...result, callId: found.call.id, name: found.call.name });
    if (this.#open.length === 0) this.#flush();
  }

  say(message: ConversationMessage): void {
    this.#orLater(() => this.#messages.push(message));
  }

  end(): ConversationMessage[] {
    for (let [open] = this.#open; open !== undefined; [open] = this.#open) {
      const missing = {
        role: 'tool-result' as const,
        callId: '',
        name: '',
        text: 'No result.',
        images: [],
        isError: true,
      };
      this.result(open.id, missing);
    }
    return this.#messages;
  }

  #orLater(add: () => void): void {
    if (this.#open.length > 0) this.#later.push(add);
    else add();
  }

  #flush(): void {
    const later = this.#later;
    this.#later = [];
    for (const add of later) this.#orLater(add);
  }

  /** The parts with ids that occur once in the conversation; some servers number the calls of each answer from 0. */
  #named(parts: readonly AssistantPart[]): AssistantPart[] {
    return parts.map((part) => {
      if (part.type !== 'tool-call') return part;
      let id = part.id === '' ? 'call' : part.id;
      for (let count = 2; this.#used.has(id); count++) id = `${part.id || 'call'}_${count}`;
      this.#used.add(id);
      const call = { ...part, id };
      this.#open.push({ id: part.id, call });
      return call;
    });
  }
}
