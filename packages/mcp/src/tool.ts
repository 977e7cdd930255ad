import type { Client } from '@pawl/protocol/client';
import type { routes } from '@pawl/protocol/routes';
import type * as z from 'zod';

/** Whose token a call is made with. */
export type CallerKind = 'agent' | 'person';

/** Who was found at work below a directory, and why that may not be all. */
export type Sighting = {
  others: { pid: number; cwd: string; provider: string; agentId: string | null }[];
  doubts: string[];
};

/** What a call has to work with. */
export type Call = {
  /** Asks the daemon with the caller's own authority; what it asks is given up when the call is cancelled. */
  client: Client;
  caller: CallerKind;
  /** Aborted when the call is cancelled. */
  signal: AbortSignal;
  /** When it came, in milliseconds of the process's own clock: a wait is measured from there, however often it is begun. */
  beganAt: number;
  /** Does something once the answer has been handed over, be it an error, and not at all when the call is cancelled. */
  afterwards(act: (client: Client) => Promise<unknown>): void;
  /** A word that is the same however often this call is tried: what it does is done once. */
  key: string;
  /** The directory that the caller works in, where this process is the caller's own. */
  here: string | null;
  /** Looks for coding agents of the machine in a checkout, but for the caller, where this process is the caller's own. */
  scan: ((path: string) => Promise<Sighting>) | null;
};

/** What a tool answers: an object, which is also its text. */
export type ToolAnswer = Record<string, unknown>;

/** What a client may be told of a tool's effects, so that it can decide whom to ask. */
export type Effect = 'reads' | 'adds' | 'ends';

/** One verb as a tool. */
export type Tool = {
  name: string;
  /** The route that it is for: an agent that is kept from it is not shown the tool. */
  door: keyof typeof routes;
  title: string;
  /** Written for a model: when to use it, and when not. */
  description: string;
  input: z.ZodObject;
  effect: Effect;
  /** Whether an agent has it; almost all are for agents. */
  forAgent: boolean;
  /** Whether it makes sense for a person's program, too; the other verbs act as an agent. */
  forPerson: boolean;
  /** Whether it waits for somebody. */
  waits: boolean;
  call(call: Call, input: unknown): Promise<ToolAnswer>;
};

/** Makes a tool from its parts; its call is given what its own schema has let through. */
export function defineTool<Input extends z.ZodObject>(
  tool: Pick<Tool, 'name' | 'door' | 'title' | 'description' | 'effect'> &
    Partial<Pick<Tool, 'forAgent' | 'forPerson' | 'waits'>> & {
      input: Input;
      call(call: Call, input: z.infer<Input>): Promise<ToolAnswer>;
    },
): Tool {
  const { input, call, forAgent = true, forPerson = false, waits = false, ...rest } = tool;
  return { ...rest, forAgent, forPerson, waits, input, call: (context, given) => call(context, input.parse(given)) };
}
