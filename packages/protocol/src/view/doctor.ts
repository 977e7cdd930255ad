import * as z from 'zod';

const findingSchema = z.object({
  check: z.string(),
  level: z.enum(['ok', 'warning', 'error']),
  message: z.string(),
  hint: z.string().optional(),
  /** `doctor --fix` can repair this. */
  fixable: z.boolean(),
});
export type Finding = z.infer<typeof findingSchema>;
export const doctorSchema = z.object({ findings: z.array(findingSchema), fixed: z.array(z.string()) });
export type Diagnosis = z.infer<typeof doctorSchema>;
