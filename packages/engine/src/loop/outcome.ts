import type { Outcome } from '@pawl/schema/runtime/outcome';
import { outcomeActions, outcomeSchema } from '@pawl/schema/runtime/outcome';
import * as z from 'zod';
import type { Tool } from '../tools/tool.ts';
import { done, failed } from '../tools/tool.ts';

const texts = z.array(z.string().min(1).max(2_000)).max(50);
const input = z.strictObject({
  type: z.enum(['task', 'patch', 'none']).describe('task: work for another agent; patch: your commits; none: neither.'),
  title: z.string().min(1).max(300).optional().describe('Of the task, or of the patch.'),
  user_stories: texts.optional().describe('Of the task.'),
  acceptance_criteria: texts.optional().describe('Of the task.'),
  summary: z.string().max(8_000).optional().describe('The result, for the agent or person that gave you the work.'),
});

/**
 * Ends an autonomous turn. The gate sees the action of the definition's policy that the outcome needs. The loop reads
 * the outcome from the input; running it does nothing else.
 */
export const finish: Tool<z.infer<typeof input>> = {
  name: 'Finish',
  description: 'Ends your work with its outcome. Call it once, as the last thing you do; commit first.',
  input,
  describe: (given) => ({
    title: `Finish with ${given.type}`,
    input: { ...given, action: outcomeActions[given.type] },
  }),
  run: ({ type, title, summary }) =>
    Promise.resolve(
      type === 'task' && title === undefined ? failed('A task needs a title.') : done(summary ?? title ?? 'Finished.'),
    ),
};

/** The outcome in a call of Finish that has passed its schema; otherwise none. */
export function outcomeOf(called: unknown): Outcome {
  const parsed = outcomeSchema.safeParse(called);
  return parsed.success ? parsed.data : { type: 'none' };
}
