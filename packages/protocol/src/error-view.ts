import { errorCodes } from '@pawl/schema/error';
import * as z from 'zod';

/** The body of every failed request. */
export const errorViewSchema = z.object({
  error: z.object({
    code: z.enum(Object.keys(errorCodes) as [keyof typeof errorCodes, ...(keyof typeof errorCodes)[]]),
    message: z.string(),
    hint: z.string().optional(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
});
export type ErrorView = z.infer<typeof errorViewSchema>;
