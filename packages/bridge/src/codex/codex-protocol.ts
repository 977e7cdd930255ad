import { randomUUID } from 'node:crypto';
import { version } from '../version.ts';
import type { UserTurn } from '@pawl/wire/claude-input';
import { at, blockTexts, listAt, parseObject, textAt } from '../json.ts';
import type { ApprovalAnswer } from '@pawl/wire/approval-line';
import { Approvals, denialText } from '../approvals.ts';
import { bridgeLimits } from '../limit.ts';
import type { InnerLine } from '../line-splitter.ts';
import type { McpServer, Protocol, ProtocolContext } from '../protocol.ts';
import type { TurnEnd } from '../stream-writer.ts';
import { codexDecision, codexRequest } from './codex-approval.ts';
import { codexAnswer, codexFailure, isUsageLimit, limitEnd } from './codex-error.ts';
import { thoughtOf, toolOf } from './codex-item.ts';
import { CodexUsage } from './codex-usage.ts';
import { JsonRpc } from './json-rpc.ts';

type Turn = {
  /** Resolves with the turn's id once Codex has started it. */
  begun: PromiseWithResolvers<string>;
  ended: PromiseWithResolvers<TurnEnd>;
};

/** `codex app-server`: a conversation is a thread; input during a turn is steered into it. */
export class CodexProtocol implements Protocol {
  readonly #context: ProtocolContext;
  readonly #rpc: JsonRpc;
  readonly #usage = new CodexUsage();
  /** Inputs that Codex has not confirmed yet, by our id. */
  readonly #unseen = new Map<string, UserTurn>();
  /** The tool calls that have begun, with their input. */
  readonly #toolsBegun = new Map<string, Record<string, unknown>>();
  readonly #approvals: Approvals;
  #threadId = '';
  #turn: Turn | null = null;
  #rateLimits: unknown = null;
  /** True if the current line was translated; otherwise it is kept raw. */
  #told = false;

  constructor(context: ProtocolContext) {
    this.#context = context;
    this.#approvals = new Approvals(context.writer);
    this.#rpc = new JsonRpc(context.send, {
      onRequest: (method, params, id) => this.#requested(method, params, id),
      onNotification: (method, params) => {
        this.#told = this.#notified(method, params);
      },
    });
  }

  receive(line: InnerLine): void {
    const message = 'text' in line ? parseObject(line.text) : null;
    if (message === null || !('text' in line)) return this.#context.writer.raw(line);
    this.#told = false;
    // Answers to our requests are not kept, except unexpected ones.
    const isAnswer = this.#rpc.receive(message) && message['method'] === undefined;
    if (!this.#told && !isAnswer) this.#context.writer.rawJson(line.text);
  }

  async open(): Promise<void> {
    const { options, systemPrompt, mcpServers, writer } = this.#context;
    await this.#rpc.request('initialize', {
      clientInfo: { name: 'pawl', title: 'Pawl', version },
      capabilities: { experimentalApi: false, requestAttestation: false },
    });
    this.#rpc.notify('initialized');
    const settings = {
      cwd: process.cwd(),
      model: options.model,
      // With other policies it decides by itself what needs approval.
      approvalPolicy: options.permission === 'ask' ? 'untrusted' : 'never',
      sandbox: options.permission === 'read-only' ? 'read-only' : 'danger-full-access',
      developerInstructions: systemPrompt === '' ? null : systemPrompt,
      config: mcpServers.length === 0 ? null : { mcp_servers: Object.fromEntries(mcpServers.map(serverConfig)) },
    };
    const earlier = { threadId: options.resume, excludeTurns: true, ...settings };
    const method = options.resume === null ? 'start' : options.forkSession ? 'fork' : 'resume';
    const opened = await this.#rpc.request(`thread/${method}`, options.resume === null ? settings : earlier);
    this.#threadId = textAt(opened, 'thread', 'id');
    writer.begin(this.#threadId, textAt(opened, 'model') || options.model);
  }

  answer(answer: ApprovalAnswer): void {
    this.#approvals.answer(answer);
  }

  /** Answers a request by the session's permission, or lets a person decide. */
  #requested(method: string, params: unknown, id: unknown): object | undefined | Promise<object> {
    const { permission } = this.#context.options;
    const asked =
      permission === 'ask' ? codexRequest(method, params, this.#toolsBegun.get(textAt(params, 'itemId'))) : null;
    if (asked === null) return codexAnswer(method, params, permission === 'full');
    return this.#approvals.ask(asked, id).then((answer) => {
      // Codex tells its model only that the call was denied, so the reason goes ahead as a message.
      const why = denialText(asked, answer.reason);
      if (!answer.allowed && answer.reason !== '') void this.steer({ text: why, uuid: null }).catch(() => false);
      return codexDecision(method, params, answer);
    });
  }

  async turn(input: UserTurn): Promise<TurnEnd> {
    const turn: Turn = { begun: Promise.withResolvers(), ended: Promise.withResolvers() };
    // Only an interrupt may wait for it.
    turn.begun.promise.catch(() => {});
    this.#turn = turn;
    this.#unseen.clear();
    this.#toolsBegun.clear();
    try {
      const started = await this.#rpc.request('turn/start', this.#handedOver(input));
      turn.begun.resolve(textAt(started, 'turn', 'id'));
      return await turn.ended.promise;
    } catch (error) {
      turn.begun.reject(error);
      throw error;
    } finally {
      this.#approvals.withdraw();
      this.#turn = null;
    }
  }

  async steer(input: UserTurn): Promise<boolean> {
    const turn = this.#turn;
    if (turn === null) return false;
    const expectedTurnId = await turn.begun.promise;
    const params = this.#handedOver(input);
    try {
      await this.#rpc.request('turn/steer', { ...params, expectedTurnId });
      return true;
    } catch {
      // The turn has just ended, or takes no input.
      this.#unseen.delete(params.clientUserMessageId);
      return false;
    }
  }

  async interrupt(): Promise<void> {
    if (this.#turn === null) return;
    const turnId = await this.#turn.begun.promise;
    await this.#rpc.request('turn/interrupt', { threadId: this.#threadId, turnId });
  }

  #handedOver(input: UserTurn) {
    const clientUserMessageId = randomUUID();
    if (this.#unseen.size < bridgeLimits.queuedInputs) this.#unseen.set(clientUserMessageId, input);
    const content = [{ type: 'text', text: input.text, text_elements: [] }];
    return { threadId: this.#threadId, clientUserMessageId, input: content };
  }

  /** True if the notification was translated. Other threads are the agent's own subagents, kept raw. */
  #notified(method: string, params: unknown): boolean {
    const { writer } = this.#context;
    if (method === 'account/rateLimits/updated') {
      this.#rateLimits = at(params, 'rateLimits');
      return false;
    }
    if (method === 'serverRequest/resolved') this.#approvals.withdraw(at(params, 'requestId') ?? null);
    if (textAt(params, 'threadId') !== this.#threadId) return false;
    switch (method) {
      case 'item/agentMessage/delta':
        writer.delta(textAt(params, 'delta'));
        return true;
      case 'item/started':
        return this.#itemBegun(at(params, 'item'));
      case 'item/completed':
        return this.#itemEnded(at(params, 'item'));
      case 'thread/tokenUsage/updated': {
        const used = this.#usage.take(at(params, 'tokenUsage'), this.#turn !== null);
        if (used !== null) writer.countCall(used);
        return used !== null;
      }
      case 'error':
        if (at(params, 'willRetry') === true) writer.retry(textAt(params, 'error', 'message'), null, null);
        return at(params, 'willRetry') === true;
      case 'turn/completed':
        return this.#turnEnded(at(params, 'turn'));
      default:
        return false;
    }
  }

  #itemBegun(item: unknown): boolean {
    const tool = toolOf(item);
    const id = textAt(item, 'id');
    if (tool === null || this.#toolsBegun.size >= bridgeLimits.toolCalls) return false;
    this.#toolsBegun.set(id, tool.input);
    this.#context.writer.toolUse(id, tool.name, tool.input);
    return true;
  }

  #itemEnded(item: unknown): boolean {
    const { writer } = this.#context;
    const tool = toolOf(item);
    if (tool !== null) {
      const id = textAt(item, 'id');
      if (!this.#toolsBegun.delete(id)) writer.toolUse(id, tool.name, tool.input);
      writer.toolResult(id, tool.result, tool.isError);
      return true;
    }
    switch (at(item, 'type')) {
      case 'agentMessage':
        writer.text(textAt(item, 'text'));
        return true;
      case 'reasoning':
        writer.thinking(thoughtOf(item));
        return thoughtOf(item) !== '';
      case 'userMessage':
        return this.#seen(item);
      default:
        return false;
    }
  }

  /** Codex shows an input as part of the thread, which confirms delivery. */
  #seen(item: unknown): boolean {
    const text = blockTexts(listAt(item, 'content'));
    const named = textAt(item, 'clientId');
    const id = this.#unseen.has(named) ? named : [...this.#unseen].find(([, input]) => input.text === text)?.[0];
    const input = id === undefined ? undefined : this.#unseen.get(id);
    if (id === undefined || input === undefined) return false;
    this.#unseen.delete(id);
    this.#context.writer.echo(input);
    return true;
  }

  #turnEnded(turn: unknown): boolean {
    if (this.#turn === null) return false;
    const error = at(turn, 'error');
    const status = textAt(turn, 'status');
    if (status === 'failed' && isUsageLimit(error)) this.#context.writer.limit(limitEnd(this.#rateLimits));
    if (status === 'completed') this.#turn.ended.resolve({ kind: 'completed' });
    else if (status === 'interrupted') this.#turn.ended.resolve({ kind: 'interrupted' });
    else this.#turn.ended.resolve(codexFailure(error));
    return true;
  }
}

/** An MCP server in Codex's configuration format. */
function serverConfig(server: McpServer): [string, object] {
  if (server.type !== 'stdio') return [server.name, { url: server.url, http_headers: server.headers }];
  const { command, args, env, inherit } = server;
  return [server.name, { command, args, env, ...(inherit.length === 0 ? {} : { env_vars: inherit }) }];
}
