import * as z from 'zod';
import type { Tool } from '../tools/tool.ts';
import { done } from '../tools/tool.ts';

const texts = z.array(z.string().min(1).max(2_000)).max(50);
const input = z.strictObject({
  type: z.enum(['task', 'patch', 'none']).describe('task: work for somebody else; patch: your commits; none: neither.'),
  title: z.string().min(1).max(300).optional().describe('Of the task, or of the patch.'),
  user_stories: texts.optional().describe('Of the task.'),
  acceptance_criteria: texts.optional().describe('Of the task.'),
});

/** The end of an autonomous turn. */
export type Outcome =
  | { type: 'task'; title: string; user_stories: string[]; acceptance_criteria: string[] }
  | { type: 'patch'; title: string }
  | { type: 'none' };

/** The name that the gate knows for each outcome: the definition's policy allows `Finalize` and `Patch`. */
const actions = { task: 'Finalize', patch: 'Patch', none: 'Finish' } as const;

/** Ends an autonomous turn. The loop reads the outcome from the input; running it does nothing else. */
export const finish: Tool<z.infer<typeof input>> = {
  name: 'Finish',
  description: 'Ends your work with its outcome. Call it once, as the last thing you do.',
  input,
  describe: (given) => ({ title: `Finish with ${given.type}`, input: { ...given, action: actions[given.type] } }),
  run: () => Promise.resolve(done('Finished.')),
};

/** The outcome in a call of Finish that has passed its schema; otherwise none. */
export function outcomeOf(called: unknown): Outcome {
  const parsed = input.safeParse(called);
  if (!parsed.success || parsed.data.type === 'none') return { type: 'none' };
  const { type, title = '', user_stories = [], acceptance_criteria = [] } = parsed.data;
  return type === 'patch' ? { type, title } : { type, title, user_stories, acceptance_criteria };
}
