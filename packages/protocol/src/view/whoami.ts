import * as z from 'zod';
import { agentAnswerSchema } from '../view.ts';

/** Who asks: an agent, or a person, with the agent that they act as. */
export const whoamiSchema = agentAnswerSchema.extend({
  caller: z.enum(['person', 'agent']),
  /** The routes that are open to the caller, by their names in the table of docs/definitions.md. */
  doors: z.array(z.string()),
});
export type Whoami = z.infer<typeof whoamiSchema>;
