import * as z from 'zod';

/** One message of an MCP server that answers, asks or tells. Parsed, since it is foreign. */
const messageSchema = z.object({
  id: z.union([z.string(), z.number()]).nullish(),
  method: z.string().optional(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});
export type ServerMessage = z.infer<typeof messageSchema>;

/** Parses a message; null if it is none. */
export function parseMessage(text: string): ServerMessage | null {
  try {
    const parsed = messageSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** A way to an MCP server. Requests reject with an error that says what went wrong. */
export type Transport = {
  request(method: string, params: object, signal: AbortSignal): Promise<unknown>;
  notify(method: string, params: object): void;
  /** True once it can be used no more. */
  readonly isDead: boolean;
  close(): Promise<void>;
};

/** The result of an answer; throws the error in it. */
export function resultOf(message: ServerMessage): unknown {
  if (message.error !== undefined) throw new Error(message.error.message.slice(0, 2_000));
  return message.result;
}

/** Answers a request from a server: only `ping` is known. */
export function replyTo(message: ServerMessage): object {
  const head = { id: message.id };
  if (message.method === 'ping') return { ...head, result: {} };
  return { ...head, error: { code: -32_601, message: 'Not supported by this client.' } };
}
