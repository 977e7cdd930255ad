import type { Client } from '@pawl/protocol/client';
import type { routes } from '@pawl/protocol/routes';
import type * as z from 'zod';

/** Whose token a call is made with. */
export type CallerKind = 'agent' | 'person';

/** Agents found below a directory, and why there may be more. */
export type Sighting = {
  others: { pid: number; cwd: string; provider: string; agentId: string | null }[];
  doubts: string[];
};

/** The context of a call. */
export type Call = {
  /** Acts with the caller's own authority; its requests end when the call is cancelled. */
  client: Client;
  caller: CallerKind;
  /** Aborted when the call is cancelled. */
  signal: AbortSignal;
  /** Start time on the process's monotonic clock: a wait is measured from there, even across retries. */
  beganAt: number;
  /** Runs something after the answer, or error, was sent; not if the call is cancelled. */
  afterwards(act: (client: Client) => Promise<unknown>): void;
  /** An idempotency key, constant over retries of this call. */
  key: string;
  /** The caller's directory, if this process is the caller's own. */
  here: string | null;
  /** Finds other coding agents in a checkout, if this process is the caller's own. */
  scan: ((path: string) => Promise<Sighting>) | null;
};

/** A tool's answer: an object, also shown as text. */
export type ToolAnswer = Record<string, unknown>;

/** A tool's effects, from which a client decides whether to ask its user. */
export type Effect = 'reads' | 'adds' | 'ends';

/** One verb as a tool. */
export type Tool = {
  name: string;
  /** Its route: an agent without access to it is not shown the tool. */
  door: keyof typeof routes;
  title: string;
  /** For a model: when to use it, and when not. */
  description: string;
  input: z.ZodObject;
  effect: Effect;
  /** Whether agents have it; almost all do. */
  forAgent: boolean;
  /** Whether a person's program has it, too; other verbs act as an agent. */
  forPerson: boolean;
  /** Whether it may wait for a long time. */
  waits: boolean;
  call(call: Call, input: unknown): Promise<ToolAnswer>;
};

/** Makes a tool; `call` gets input validated by its schema. */
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
