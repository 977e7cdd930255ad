import { toolArgument } from '@pawl/schema/approval/tool-argument';
import { messageOf } from '@pawl/schema/error';
import { ownServer } from '@pawl/schema/mcp';
import * as z from 'zod';
import { engineLimits } from '../limit.ts';
import type { Decision } from '../loop/turn.ts';
import { bodyText, sendRequest, whileAway } from '../mcp/http-message.ts';
import type { GateRequest } from '../tools/tool.ts';

const answerSchema = z.object({ allowed: z.boolean(), reason: z.string() });

/** Tools that touch nothing outside of the conversation. */
const inner = new Set(['Todo', 'BashOutput']);

/**
 * Asks the daemon whether the agent's definition allows a call: its tools and their limits, where it may write, which
 * paths others have locked, and the action that an outcome needs. A daemon that cannot be reached allows nothing.
 */
export class DaemonGate {
  readonly #socket: string;
  readonly #token: string;

  constructor(socket: string, token: string) {
    this.#socket = socket;
    this.#token = token;
  }

  async decide({ tool, input }: GateRequest, signal: AbortSignal): Promise<Decision> {
    const question = questionOf(tool, input);
    if (question === null) return { allow: true };
    try {
      const { allowed, reason } = await whileAway(() => this.#ask(question, signal), signal);
      return allowed ? { allow: true } : { allow: false, reason: `Not allowed: ${reason}.` };
    } catch (error) {
      signal.throwIfAborted();
      return { allow: false, reason: `Pawl could not be reached, so this is refused: ${messageOf(error)}` };
    }
  }

  async #ask(question: object, signal: AbortSignal): Promise<z.infer<typeof answerSchema>> {
    const target = { socket: this.#socket, path: '/api/agents/@current/gate' };
    const headers = {
      host: 'localhost',
      'content-type': 'application/json',
      authorization: `Bearer ${this.#token}`,
    };
    const body = JSON.stringify(question);
    const response = await sendRequest(target, { method: 'POST', headers, body, signal });
    const text = await bodyText(response, engineLimits.configBytes);
    if (response.status !== 200) throw new Error(`it answered with status ${response.status}: ${text.slice(0, 300)}`);
    return answerSchema.parse(JSON.parse(text));
  }
}

/** The question about a call; null if nothing but the conversation is concerned, or the daemon checks the call itself. */
function questionOf(tool: string, input: Record<string, unknown>): object | null {
  if (tool === 'Finish') return typeof input['action'] === 'string' ? { action: input['action'] } : null;
  if (inner.has(tool) || tool.startsWith(`mcp__${ownServer}__`)) return null;
  const argument = toolArgument(tool, input);
  return argument === undefined ? { tool } : { tool, input: argument };
}
