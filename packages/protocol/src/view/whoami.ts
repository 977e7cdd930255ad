import * as z from 'zod';
import { agentAnswerSchema } from '../view.ts';

/** The caller: an agent, or a person, with the agent they act as. */
export const whoamiSchema = agentAnswerSchema.extend({
  caller: z.enum(['person', 'agent']),
  /** The routes open to the caller, by their names in docs/definitions.md. */
  doors: z.array(z.string()),
});
export type Whoami = z.infer<typeof whoamiSchema>;
