import * as z from 'zod';
import { engineLimits } from '../limit.ts';
import type { Tool } from './tool.ts';
import { done } from './tool.ts';

const item = z.strictObject({
  text: z.string().min(1).max(engineLimits.todoCharacters),
  status: z.enum(['pending', 'in_progress', 'completed']),
});
const input = z.strictObject({ items: z.array(item).max(engineLimits.todoItems).describe('The whole list.') });

const signs = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const;

export const todo: Tool<z.infer<typeof input>> = {
  name: 'Todo',
  description: 'Replaces your list of steps. Use it for work with several steps, and keep it true.',
  input,
  describe: ({ items }) => ({ title: `List ${items.length} steps`, input: { items } }),
  run({ items }, context) {
    context.todo.items = items;
    const lines = items.map(({ text, status }) => `${signs[status]} ${text}`);
    return Promise.resolve(done(lines.length === 0 ? 'The list is empty.' : lines.join('\n')));
  },
};
