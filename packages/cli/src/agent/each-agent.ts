import { PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../context.ts';
import { reportFailure } from '../failure.ts';

/** The results of one operation on several agents. */
export type Outcomes<T> = { done: T[]; failures: unknown[] };

/** Applies an operation to several agents in turn. A failure does not stop the rest. */
export async function eachAgent<T>(references: string[], act: (reference: string) => Promise<T>): Promise<Outcomes<T>> {
  const outcomes: Outcomes<T> = { done: [], failures: [] };
  for (const reference of references) {
    try {
      outcomes.done.push(await act(reference));
    } catch (error) {
      outcomes.failures.push(error);
      // Without a daemon the others would fail in the same way.
      if (error instanceof PawlError && error.code === 'daemon_unreachable') break;
    }
  }
  return outcomes;
}

/** Prints what was done, then what failed; the first failure gives the exit code. */
export function answerEach<T>(
  context: CommandContext,
  { done, failures }: Outcomes<T>,
  kind: string,
  data: unknown,
  text: () => string,
): number {
  if (done.length > 0 || failures.length === 0) context.answer(kind, data, text);
  return failures.map((failure) => reportFailure(failure, context.json))[0] ?? 0;
}
