import { PawlError } from '@pawl/schema/error';
import { failed } from '../fault.ts';
import type { UserTurn } from '@pawl/wire/claude-input';
import { at, blockTexts, countAt, listAt, parseObject, textAt } from '../json.ts';
import type { InnerLine } from '../line-splitter.ts';
import type { Protocol, ProtocolContext } from '../protocol.ts';
import type { TurnEnd } from '../stream-writer.ts';

type Turn = { ended: PromiseWithResolvers<TurnEnd>; interrupted: boolean };

/** `pi --mode rpc`: every input is a prompt, which pi steers into a running turn. */
export class PiProtocol implements Protocol {
  readonly #context: ProtocolContext;
  readonly #pending = new Map<string, PromiseWithResolvers<unknown>>();
  /** Inputs that pi has accepted but not confirmed yet. */
  #unseen: UserTurn[] = [];
  #nextId = 1;
  #turn: Turn | null = null;
  #lastError: string | null = null;

  constructor(context: ProtocolContext) {
    this.#context = context;
  }

  receive(line: InnerLine): void {
    const record = 'text' in line ? parseObject(line.text) : null;
    if (record === null || !('text' in line)) return this.#context.writer.raw(line);
    if (!this.#take(record)) this.#context.writer.rawJson(line.text);
  }

  async open(): Promise<void> {
    const state = await this.#request({ type: 'get_state' });
    const sessionId = textAt(state, 'sessionId');
    if (sessionId === '') throw new PawlError('unavailable', 'pi did not return a session id.');
    this.#context.writer.begin(sessionId, textAt(state, 'model', 'id') || null);
  }

  async turn(input: UserTurn): Promise<TurnEnd> {
    const turn: Turn = { ended: Promise.withResolvers(), interrupted: false };
    this.#turn = turn;
    this.#unseen = [];
    this.#lastError = null;
    try {
      await this.#prompt(input);
      return await turn.ended.promise;
    } finally {
      this.#turn = null;
    }
  }

  async steer(input: UserTurn): Promise<boolean> {
    if (this.#turn === null || this.#turn.interrupted) return false;
    await this.#prompt(input);
    return true;
  }

  async interrupt(): Promise<void> {
    if (this.#turn === null) return;
    this.#turn.interrupted = true;
    // Otherwise pi would continue with its own queue after the abort.
    await this.#request({ type: 'clear_queue' });
    await this.#request({ type: 'abort' });
  }

  /** If the run has just ended, this starts a new one, so no input is lost in between. */
  async #prompt(input: UserTurn): Promise<void> {
    this.#unseen.push(input);
    try {
      await this.#request({ type: 'prompt', message: inert(input.text), streamingBehavior: 'steer' });
    } catch (error) {
      this.#unseen = this.#unseen.filter((each) => each !== input);
      throw error;
    }
  }

  #request(command: object): Promise<unknown> {
    const id = `pawl-${this.#nextId++}`;
    const answer = Promise.withResolvers<unknown>();
    this.#pending.set(id, answer);
    this.#context.send({ id, ...command });
    return answer.promise;
  }

  /** True if the record was translated, or was an answer to us. */
  #take(record: Record<string, unknown>): boolean {
    const { writer } = this.#context;
    if (repeats(record)) return true;
    switch (record['type']) {
      case 'response':
        return this.#answered(record);
      case 'message_update':
        writer.delta(textAt(record, 'assistantMessageEvent', 'delta'));
        return true;
      case 'message_end':
        return this.#said(record['message']);
      case 'tool_execution_start':
        writer.toolUse(textAt(record, 'toolCallId'), textAt(record, 'toolName'), record['args'] ?? {});
        return true;
      case 'tool_execution_end': {
        const text = blockTexts(listAt(record, 'result', 'content'));
        writer.toolResult(textAt(record, 'toolCallId'), text, record['isError'] === true);
        return true;
      }
      case 'auto_retry_start':
        writer.retry(textAt(record, 'errorMessage'), countAt(record, 'attempt'), countAt(record, 'delayMs'));
        return true;
      case 'agent_settled':
        void this.#settled();
        return true;
      case 'extension_ui_request':
        this.#refuse(record);
        return false;
      default:
        return false;
    }
  }

  #answered(record: Record<string, unknown>): boolean {
    const id = textAt(record, 'id');
    const pending = this.#pending.get(id);
    if (pending === undefined) return false;
    this.#pending.delete(id);
    if (record['success'] === true) pending.resolve(record['data']);
    else pending.reject(new PawlError('unavailable', textAt(record, 'error')));
    return true;
  }

  #said(message: unknown): boolean {
    const { writer } = this.#context;
    if (at(message, 'role') === 'user') {
      const input = this.#unseen.shift();
      if (input !== undefined) writer.echo(input);
      return input !== undefined;
    }
    if (at(message, 'role') !== 'assistant') return false;
    for (const block of listAt(message, 'content')) {
      if (at(block, 'type') === 'text') writer.text(textAt(block, 'text'));
      if (at(block, 'type') === 'thinking') writer.thinking(textAt(block, 'thinking'));
    }
    const usage = at(message, 'usage');
    writer.countCall({
      input: countAt(usage, 'input'),
      output: countAt(usage, 'output'),
      cacheRead: countAt(usage, 'cacheRead'),
      cacheWrite: countAt(usage, 'cacheWrite'),
      costUsd: at(usage, 'cost') === undefined ? null : countAt(usage, 'cost', 'total'),
    });
    this.#lastError = at(message, 'stopReason') === 'error' ? textAt(message, 'errorMessage') : null;
    return true;
  }

  /** The run is over, unless an input that came meanwhile has started another. */
  async #settled(): Promise<void> {
    const turn = this.#turn;
    if (turn === null) return;
    if (this.#unseen.length > 0 && !turn.interrupted) {
      const state = await this.#request({ type: 'get_state' });
      if (at(state, 'isStreaming') === true || countAt(state, 'pendingMessageCount') > 0) return;
      // An extension took it without making it a message, so nothing proves that the model saw it.
      this.#unseen = [];
    }
    if (turn.interrupted) turn.ended.resolve({ kind: 'interrupted' });
    else turn.ended.resolve(this.#lastError === null ? { kind: 'completed' } : this.#failure(this.#lastError));
  }

  #failure(text: string): TurnEnd {
    const end = failed(text);
    if (end.kind === 'failed' && end.status === 429) this.#context.writer.limit(null);
    return end;
  }

  /** Declines a question of an extension: no person can answer it. */
  #refuse(record: Record<string, unknown>): void {
    const asks = ['select', 'confirm', 'input', 'editor'].includes(textAt(record, 'method'));
    if (asks) this.#context.send({ type: 'extension_ui_response', id: record['id'], cancelled: true });
  }
}

/** Records that only repeat or announce what `message_end` and `tool_execution_end` contain. */
function repeats(record: Record<string, unknown>): boolean {
  if (record['type'] === 'message_update') return at(record, 'assistantMessageEvent', 'type') !== 'text_delta';
  if (record['type'] === 'message_end') return at(record, 'message', 'role') === 'toolResult';
  return ['message_start', 'turn_start', 'turn_end', 'agent_start', 'agent_end'].includes(String(record['type']));
}

/** pi runs text that starts with a slash as a command; foreign text must not be one. */
function inert(text: string): string {
  return text.startsWith('/') ? ` ${text}` : text;
}
