import * as z from 'zod';
import { engineLimits } from '../limit.ts';
import type { Tool, ToolOutcome } from '../tools/tool.ts';
import { done, failed } from '../tools/tool.ts';
import type { Connection } from './connection.ts';
import { keyFor } from './server-tools.ts';

const input = z.strictObject({
  target: z.string().min(1).max(64).describe('The definition of the subagent.'),
  task: z.string().min(1).describe('The task, complete in itself: the subagent sees nothing of your conversation.'),
  model: z.string().min(1).max(200).optional().describe('A model other than the default.'),
});

const answerSchema = z.object({
  run: z.string(),
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  result: z.string().nullish(),
  questions: z.array(z.string()).optional(),
});
type Answer = z.infer<typeof answerSchema>;

/**
 * Delegates to a subagent and returns its result. The daemon decides whether this agent may, and keeps the result: the
 * wait is a series of short questions, so it outlasts a restart of the daemon. Several calls in one answer run side by
 * side.
 */
export function delegateTool(connection: Connection, { name }: Pick<Tool, 'name'>): Tool {
  const tool: Tool<z.infer<typeof input>> = {
    name: 'Delegate',
    gateName: name,
    parallel: true,
    description:
      'Gives a self-contained task to a subagent, waits for it, and returns its result. Call it several times in one answer ' +
      'for tasks that do not depend on each other: they run at the same time. `pawl definitions` lists the targets.',
    input,
    describe: ({ target, task }) => ({
      title: `Delegate to ${target}: ${task.slice(0, 200)}`,
      input: { target, task },
    }),
    async run(given, { signal }) {
      const first = { ...given, timeout_seconds: engineLimits.resultWaitSeconds };
      let answer = await ask(connection, 'delegate', first, signal);
      while ('run' in answer && answer.status === 'running') {
        const next = { run: answer.run, timeout_seconds: engineLimits.resultWaitSeconds };
        answer = await ask(connection, 'delegate_result', next, signal);
      }
      return 'run' in answer ? outcomeOf(answer) : answer;
    },
  };
  return tool;
}

async function ask(
  connection: Connection,
  verb: string,
  given: object,
  signal: AbortSignal,
): Promise<Answer | ToolOutcome> {
  const { content, structuredContent, isError } = await connection.call(verb, given, signal, keyFor(connection));
  if (isError) return failed(content.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n'));
  return answerSchema.parse(structuredContent);
}

function outcomeOf({ status, result, questions }: Answer): ToolOutcome {
  if (questions !== undefined) return failed(`It did not finish, and asks:\n${questions.join('\n')}`);
  const text = (result ?? '').trim();
  if (status === 'completed') return done(text === '' ? '(it finished without a result)' : text);
  return failed(`It ${status === 'failed' ? 'failed' : 'was cancelled'}${text === '' ? '.' : `: ${text}`}`);
}
