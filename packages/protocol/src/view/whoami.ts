import * as z from 'zod';
import { agentAnswerSchema } from '../view.ts';

/** Who asks: an agent, or a person, with the agent that they act as. */
export const whoamiSchema = agentAnswerSchema.extend({ caller: z.enum(['person', 'agent']) });
export type Whoami = z.infer<typeof whoamiSchema>;
