import type { AnyMessage, RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import { methods } from '@agentclientprotocol/sdk';
import { PawlError } from '@pawl/schema/error';
import type { ApprovalAnswer } from '@pawl/wire/approval-line';
import type { UserTurn } from '@pawl/wire/claude-input';
import { Approvals, denialText } from '../approvals.ts';
import { at, countAt, listAt, parseObject, textAt, toJson } from '../json.ts';
import { bridgeLimits } from '../limit.ts';
import type { InnerLine } from '../line-splitter.ts';
import type { Protocol, ProtocolContext } from '../protocol.ts';
import type { TurnEnd } from '../stream-writer.ts';
import type { AcpChannel } from './acp-channel.ts';
import { openAcpChannel } from './acp-channel.ts';
import { acpErrorText, acpFailure, failureInText } from './acp-error.ts';
import { acpRequest, answerPermission, cancelled, isPermitted } from './acp-permission.ts';
import { openAcpSession } from './acp-session.ts';
import { AcpTools } from './acp-tools.ts';

/** Updates that come from work on a prompt, and so prove that the agent has it. */
const workUpdates = ['agent_message_chunk', 'agent_thought_chunk', 'tool_call', 'tool_call_update', 'plan'];

/**
 * The Agent Client Protocol. A prompt during a turn makes some agents cancel it and others never answer, so it waits,
 * unless the agent is known to accept it. Every prompt has its own answer; a turn ends when all have come.
 */
export class AcpProtocol implements Protocol {
  readonly #context: ProtocolContext;
  readonly #channel: AcpChannel;
  readonly #tools: AcpTools;
  #sessionId = '';
  /** Prepended to the first prompt, for agents without an appendable system prompt. */
  #preface = '';
  #prompts: Promise<TurnEnd>[] = [];
  /** Until the first turn, updates replay the earlier conversation. */
  #phase: 'opening' | 'idle' | 'turn' = 'opening';
  /** The turn's first input, until there is evidence that the agent has it. */
  #unseen: UserTurn | null = null;
  #costUsd = 0;
  readonly #approvals: Approvals;
  /** Why calls were denied: the protocol has no field for it, so the model learns it by a prompt. */
  #denials: string[] = [];
  #explanations = 0;

  constructor(context: ProtocolContext) {
    this.#context = context;
    this.#tools = new AcpTools(context.writer);
    this.#approvals = new Approvals(context.writer);
    this.#channel = openAcpChannel(context.send, (request) => this.#permit(request));
  }

  receive(line: InnerLine): void {
    const { writer } = this.#context;
    const message = 'text' in line ? parseObject(line.text) : null;
    if (message === null || !('text' in line)) return writer.raw(line);
    if (message['method'] === methods.client.session.update) {
      // Report it now, before the answer that may follow in the next line.
      const update = at(message, 'params', 'update');
      if (this.#phase === 'opening') this.#replayed(line.text, update);
      else if (textAt(message, 'params', 'sessionId') !== this.#sessionId || !this.#updated(update))
        writer.rawJson(line.text);
      return;
    }
    if (message['method'] !== undefined || message['jsonrpc'] !== '2.0') writer.rawJson(line.text);
    if (message['jsonrpc'] === '2.0') this.#channel.push(message as AnyMessage);
  }

  async open(): Promise<void> {
    const { options, systemPrompt, writer } = this.#context;
    const session = await openAcpSession(this.#channel.agent, this.#context).catch((error: unknown) => {
      throw new PawlError('unavailable', acpErrorText(error), { cause: error });
    });
    this.#sessionId = session.sessionId;
    const isNew = options.resume === null || options.forkSession;
    if (isNew && !session.takesSystemPrompt && systemPrompt !== '') {
      this.#preface = `<system-prompt>\n${systemPrompt.trim()}\n</system-prompt>\n\n`;
    }
    writer.begin(session.sessionId, session.model);
  }

  async turn(input: UserTurn): Promise<TurnEnd> {
    const { writer } = this.#context;
    this.#phase = 'turn';
    this.#unseen = input;
    this.#prompts = [this.#prompt(input, this.#preface, true)];
    this.#preface = '';
    this.#denials = [];
    this.#explanations = 0;
    // More prompts may join meanwhile.
    let ends: TurnEnd[] = [];
    while (ends.length < this.#prompts.length) {
      ends = await Promise.all(this.#prompts);
      if (ends.every(({ kind }) => kind === 'completed')) this.#explain();
    }
    this.#phase = 'idle';
    this.#approvals.withdraw();
    this.#tools.clear();
    writer.countCall();
    const last = ends.find((each) => each.kind === 'failed') ?? ends.at(-1) ?? { kind: 'completed' };
    const end = (last.kind === 'completed' ? failureInText(writer.lastText) : null) ?? last;
    if (end.kind === 'failed' && end.status === 429) writer.limit(null);
    return end;
  }

  steer(input: UserTurn): Promise<boolean> {
    if (!this.#context.options.steer || this.#phase !== 'turn') return Promise.resolve(false);
    this.#prompts.push(this.#prompt(input, '', false));
    return Promise.resolve(true);
  }

  answer(answer: ApprovalAnswer): void {
    this.#approvals.answer(answer);
  }

  async interrupt(): Promise<void> {
    // A cancelled turn must have no open request.
    this.#approvals.withdraw();
    await this.#channel.agent.notify(methods.agent.session.cancel, { sessionId: this.#sessionId });
  }

  async #prompt(input: UserTurn, preface: string, isFirst: boolean): Promise<TurnEnd> {
    try {
      const answer: unknown = await this.#channel.agent.request(methods.agent.session.prompt, {
        sessionId: this.#sessionId,
        prompt: [{ type: 'text', text: preface + input.text }],
      });
      // It is unknown whether observed work belongs to a later input; its own answer confirms it.
      if (isFirst) this.#seen();
      else this.#context.writer.echo(input);
      this.#countUsage(answer);
      return endOf(textAt(answer, 'stopReason'));
    } catch (error) {
      return acpFailure(error);
    }
  }

  #seen(): void {
    if (this.#unseen !== null) this.#context.writer.echo(this.#unseen);
    this.#unseen = null;
  }

  /** True if the update was translated. */
  #updated(update: unknown): boolean {
    const { writer } = this.#context;
    const kind = textAt(update, 'sessionUpdate');
    if (this.#phase === 'turn' && workUpdates.includes(kind)) this.#seen();
    switch (kind) {
      case 'agent_message_chunk':
      case 'agent_thought_chunk': {
        const text = textAt(update, 'content', 'text');
        writer.piece(kind === 'agent_message_chunk' ? 'text' : 'thinking', text);
        this.#countCall(at(update, '_meta', 'usage'));
        return text !== '';
      }
      case 'tool_call':
      case 'tool_call_update':
        return this.#tools.take(update);
      case 'usage_update': {
        const cost = costIn(update);
        if (cost > this.#costUsd) writer.addUsage({ costUsd: cost - this.#costUsd });
        this.#costUsd = Math.max(cost, this.#costUsd);
        return false;
      }
      default:
        return false;
    }
  }

  /** A replayed update of a resumed conversation: already known and paid for. */
  #replayed(json: string, update: unknown): void {
    this.#costUsd = Math.max(this.#costUsd, costIn(update));
    this.#context.writer.rawJson(json, { subtype: 'replay' });
  }

  /** Some agents report usage per model call, and nothing at the end of the turn. */
  #countCall(usage: unknown): void {
    const cacheRead = countAt(usage, 'cachedReadTokens');
    const input = Math.max(0, countAt(usage, 'inputTokens') - cacheRead);
    this.#context.writer.addUsage({ input, output: countAt(usage, 'outputTokens'), cacheRead });
  }

  #countUsage(answer: unknown): void {
    const usage = at(answer, 'usage');
    const quota = at(answer, '_meta', 'quota', 'token_count');
    this.#context.writer.addUsage({
      input: countAt(usage, 'inputTokens') || countAt(quota, 'input_tokens'),
      output: countAt(usage, 'outputTokens') || countAt(quota, 'output_tokens'),
      cacheRead: countAt(usage, 'cachedReadTokens'),
      cacheWrite: countAt(usage, 'cachedWriteTokens'),
    });
  }

  async #permit({ toolCall, options }: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    this.#seen();
    this.#tools.begin(toolCall);
    const call = this.#tools.known(toolCall.toolCallId);
    const { permission } = this.#context.options;
    const offered = listAt(options) as typeof options;
    const answer =
      permission === 'ask'
        ? await this.#asked(acpRequest(call, toolCall), offered)
        : answerPermission(offered, isPermitted(call.kind, permission));
    this.#context.writer.rawJson(toJson(answer), { subtype: 'permission' });
    return answer;
  }

  /** Lets a person decide. A request that was withdrawn is cancelled, as the protocol demands. */
  async #asked(
    request: ReturnType<typeof acpRequest>,
    options: RequestPermissionRequest['options'],
  ): Promise<RequestPermissionResponse> {
    const { allowed, withdrawn, reason } = await this.#approvals.ask(request);
    if (withdrawn === true) return cancelled;
    if (!allowed && reason !== '') this.#denials.push(denialText(request, reason));
    return answerPermission(options, allowed);
  }

  /** Tells the model, in the same turn, why calls were denied. */
  #explain(): void {
    const text = this.#denials.splice(0).join('\n\n');
    if (text === '' || this.#explanations >= bridgeLimits.explanations) return;
    this.#explanations += 1;
    this.#context.writer.closeText();
    this.#prompts.push(this.#prompt({ text, uuid: null }, '', false));
  }
}

/** The conversation's total cost, if the agent reports dollars. */
function costIn(update: unknown): number {
  return at(update, 'cost', 'currency') === 'USD' ? countAt(update, 'cost', 'amount') : 0;
}

function endOf(stopReason: string): TurnEnd {
  if (stopReason === 'end_turn') return { kind: 'completed' };
  if (stopReason === 'cancelled') return { kind: 'interrupted' };
  return { kind: 'failed', text: `The agent stopped: ${stopReason || 'without a reason'}.`, status: null };
}
