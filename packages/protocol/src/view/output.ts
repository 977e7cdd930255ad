import { outputStreams, timeSchema } from '@pawl/schema/record';
import { streamEventSchema } from '@pawl/schema/stream-event';
import * as z from 'zod';

const outputChunkSchema = z.object({
  id: z.number().int(),
  sessionNo: z.number().int(),
  stream: z.enum(outputStreams),
  offset: z.number().int(),
  at: timeSchema,
  /** With `format=raw`: the chunk's text; invalid UTF-8 shows as U+FFFD, and `base64` then has the exact bytes. */
  content: z.string().optional(),
  base64: z.string().optional(),
  /** With `format=events`: the parsed events. */
  events: z.array(streamEventSchema).optional(),
});
export type OutputChunk = z.infer<typeof outputChunkSchema>;
export const outputPageSchema = z.object({
  chunks: z.array(outputChunkSchema),
  /** More output is stored beyond this page. */
  more: z.boolean(),
  /** The agent is not working, so nothing follows unless it is resumed. */
  ended: z.boolean(),
});
export type OutputPage = z.infer<typeof outputPageSchema>;
