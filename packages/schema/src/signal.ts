import * as z from 'zod';

/** The content of `.pawl/output/signal.json`, which an agent writes at the end of its work. */
export const signalSchema = z.discriminatedUnion('status', [
  z.object({ status: z.literal('done'), result: z.string().optional() }),
  z.object({
    status: z.literal('questions'),
    questions: z
      .array(
        z.union([
          z.string().transform((question) => ({ id: '', question })),
          z.object({ id: z.string().default(''), question: z.string() }),
        ]),
      )
      .min(1)
      .max(100),
  }),
  z.object({ status: z.literal('error'), error: z.string().optional() }),
]);
export type Signal = z.infer<typeof signalSchema>;

/** Parses a signal file. A half-written or foreign file is no error, just not a signal yet. */
export function parseSignal(text: string): { ok: true; signal: Signal } | { ok: false; reason: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, reason: 'it is not complete JSON' };
  }
  const parsed = signalSchema.safeParse(value);
  if (!parsed.success) return { ok: false, reason: z.prettifyError(parsed.error).slice(0, 500) };
  return { ok: true, signal: parsed.data };
}
