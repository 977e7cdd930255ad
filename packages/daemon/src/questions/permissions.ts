import type { PermissionAnswer } from '@pawl/protocol/questions/view';
import { limits } from '@pawl/schema/limit';
import type { Question } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { askGate } from '../definitions/home-definitions.ts';
import type { Questions } from './questions.ts';

/** The stored form of yes and no. */
const [yes, no] = ['allow', 'deny'];

export function permissionWords(allowed: boolean, reason: string | undefined): string {
  const word = allowed ? yes : no;
  return reason === undefined || reason.trim() === '' ? word : `${word}: ${reason.trim()}`;
}

/**
 * Asks the person if an agent may use a tool, and waits for the answer. Denies at once what the definition denies, and
 * requests too long to show in full: a person must not allow what they cannot see. No answer in time means no. A
 * repeated request, after a daemon crash, waits for the same answer.
 */
export async function requestPermission(
  platform: DefinitionPlatform,
  questions: Questions,
  request: { agent: Agent; tool: string; input: Record<string, unknown>; key: string | undefined; signal: AbortSignal },
): Promise<PermissionAnswer> {
  const { agent, tool, key, signal } = request;
  const input = JSON.stringify(request.input);
  const gate = await askGate(platform, agent, { tool, input });
  if (!gate.allowed) return { behavior: 'deny', message: gate.reason, conversationId: null };
  const text = `May it use ${tool}? ${input}`;
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.mailSpillBytes) {
    const message = `a request has at most ${limits.mailSpillBytes} bytes, and this one has ${bytes}: the person was not asked`;
    return { behavior: 'deny', message, conversationId: null };
  }
  const target = { person: true } as const;
  const asked = await questions.ask({ from: agent, target, text, kind: 'permission', timeoutMs: null, key });
  const followed = questions.follow(asked.id, 'asker');
  try {
    for (;;) {
      const ended = await followed.end(limits.heartbeatMs, signal);
      if (ended === null) continue;
      await questions.shown(ended);
      return verdictOf(ended);
    }
  } finally {
    followed.leave();
  }
}

function verdictOf({ id, end, answer }: Question): PermissionAnswer {
  const text = answer ?? '';
  if (end !== 'answered') return { behavior: 'deny', message: text, conversationId: id };
  const allowed = text === yes || text.startsWith(`${yes}:`);
  const message = text.slice((allowed ? yes : no).length).replace(/^: /, '');
  return { behavior: allowed ? 'allow' : 'deny', message, conversationId: id };
}
