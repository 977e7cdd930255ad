import { readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { messageOf } from '@pawl/schema/error';
import type { OpenConversation } from '../conversation/open-conversation.ts';
import { userMessage } from '../conversation/message.ts';
import { contextUsage } from '../conversation/context-usage.ts';
import { modelPrompt } from '../conversation/model-prompt.ts';
import type { Turn } from '../loop/turn.ts';
import { runTurn } from '../loop/turn.ts';
import type { ModelChoice } from '../model/model-choice.ts';
import { authorOf, modelAccess } from '../model/model-choice.ts';
import { ModelFault } from '../model/model-fault.ts';
import { runModelTurn } from '../model/model-turn.ts';
import type { VendorModel } from '../model/vendor-model.ts';
import { openVendorModel } from '../model/vendor-model.ts';
import type { Arguments } from './arguments.ts';
import type { Inbox } from './inbox.ts';
import { systemPrompt } from './system-prompt.ts';
import type { Toolbox } from './toolbox.ts';
import type { Voice } from './voice.ts';

/** The directory for long output of commands. */
export function stateDirectory(env: Record<string, string | undefined>): string {
  return resolve(env['PAWL_ENGINE_HOME'] || join(homedir(), '.pawl-engine'));
}

export type SessionParts = {
  options: Arguments;
  choice: ModelChoice;
  conversation: OpenConversation;
  inbox: Inbox;
  voice: Voice;
  toolbox: Toolbox;
};

/** Runs turns until stdin ends. */
export class Session {
  readonly #parts: SessionParts;
  readonly #root = realpathSync(process.cwd());
  #turn = new AbortController();
  #failed = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Stops the running turn; the session continues. */
  interrupt(): void {
    this.#turn.abort(new Error('Interrupted by the user.'));
  }

  /** Ends everything that the session started. */
  async close(): Promise<void> {
    this.interrupt();
    await this.#parts.toolbox.close();
  }

  /** Returns the exit code. */
  async run(): Promise<number> {
    const { inbox } = this.#parts;
    while (await inbox.wait()) {
      if (this.#takeInput()) await this.#runTurn();
    }
    return this.#failed ? 1 : 0;
  }

  /** Appends the waiting input; false if all of it was known already. A repeated line is shown again, and not added. */
  #takeInput(): boolean {
    const { inbox, conversation, voice, options } = this.#parts;
    let added = false;
    for (const turn of inbox.drain()) {
      const known = (uuid: string) => conversation.messages.some((each) => each.role === 'user' && each.uuid === uuid);
      if (turn.uuid === null || !known(turn.uuid)) {
        conversation.append(userMessage(turn.text, turn.uuid));
        added = true;
      }
      if (options.echoes) voice.echo(turn);
    }
    return added;
  }

  async #runTurn(): Promise<void> {
    const { voice } = this.#parts;
    this.#turn = new AbortController();
    voice.beginTurn();
    try {
      const { text, ok, reason, outcome } = await runTurn(await this.#turnOf());
      this.#failed = !ok;
      if (ok) voice.endTurn({ subtype: 'success', isError: false, text, terminalReason: 'completed' }, outcome);
      else voice.endTurn({ subtype: 'error_during_execution', isError: true, text, errors: [reason ?? text] }, outcome);
    } catch (error) {
      this.#failed = true;
      this.#endFailed(error);
    }
  }

  #endFailed(error: unknown): void {
    const { voice } = this.#parts;
    const text = messageOf(error);
    if (this.#turn.signal.aborted) {
      this.#failed = false;
      const end = { subtype: 'error_during_execution' as const, isError: true, text, errors: [text] };
      return voice.endTurn({ ...end, terminalReason: 'aborted_streaming' }, null);
    }
    if (!(error instanceof ModelFault)) {
      return voice.endTurn({ subtype: 'error_during_execution', isError: true, text, errors: [text] }, null);
    }
    const { kind, retryAfterMs, status } = error;
    if (kind === 'limit') voice.limit(retryAfterMs === null ? null : Date.now() + retryAfterMs);
    const end = { subtype: 'success' as const, isError: true, text };
    voice.endTurn(status === null ? end : { ...end, apiErrorStatus: status }, null);
  }

  async #turnOf(): Promise<Turn> {
    const { options, choice, conversation, voice, toolbox } = this.#parts;
    const { signal } = this.#turn;
    const [model, tools] = await Promise.all([
      openVendorModel(choice, modelAccess(choice, process.env)),
      toolbox.tools(signal),
    ]);
    return {
      mode: options.mode,
      author: authorOf(choice),
      conversation,
      tools,
      context: toolbox.context(signal),
      maxIterations: options.maxIterations,
      contextTokens: options.contextTokens,
      ask: this.#asks(model, signal),
      decide: (request, callId) => toolbox.decide(request, callId, signal),
      takeInput: () => void this.#takeInput(),
      onAnswer: (message, answer) => voice.answer(message, answer),
      onResult: (result) => voice.result(result),
      onSummary: (text) => voice.summary(text),
    };
  }

  #asks(model: VendorModel, signal: AbortSignal): Turn['ask'] {
    const { options, choice, conversation, voice, toolbox } = this.#parts;
    const added = options.systemPromptFile === undefined ? '' : readFileSync(options.systemPromptFile, 'utf8');
    const system = systemPrompt(this.#root, options.mode, [toolbox.prompt, added]);
    const target = { author: authorOf(choice), takesImages: choice.vendor !== 'compatible' };
    return async (messages, tools) => {
      const prompt = modelPrompt(system, messages, target);
      const stage = messages === conversation.messages ? 'turn' : 'summary';
      voice.context(contextUsage(prompt, conversation.messages, { stage, tokenLimit: options.contextTokens }));
      const answer = await runModelTurn({
        model,
        prompt,
        tools,
        cacheKey: conversation.name,
        oneCall: options.mode === 'chat',
        signal,
        onEvent: (event) => voice.event(event),
        sleep,
        random: Math.random,
      });
      voice.usage(answer.usage);
      return answer;
    };
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish, { once: true });
  });
}
