import * as z from 'zod';
import { homeConfigSchema } from './home-config.ts';

/** Describes what is wrong with a config; null if it is valid. */
export function homeConfigProblem(value: unknown): string | null {
  const parsed = homeConfigSchema.safeParse(value);
  return parsed.success ? null : z.prettifyError(parsed.error);
}

/** The config with defaults. It must be valid. */
export function filledHomeConfig(value: unknown): unknown {
  return homeConfigSchema.parse(value);
}

/** The keys of single settings, dotted. A key with user-defined parts counts as one. */
export function homeConfigKeys(): string[] {
  return keysBelow(homeConfigSchema, '');
}

function keysBelow(schema: z.core.$ZodType, above: string): string[] {
  const plain = unwrapped(schema);
  if (!(plain instanceof z.ZodObject)) return [above];
  return Object.entries(plain.shape).flatMap(([name, inner]) =>
    keysBelow(inner as z.core.$ZodType, above === '' ? name : `${above}.${name}`),
  );
}

/** The schema without wrappers for defaults, null and transforms. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return unwrapped(schema.unwrap());
  return schema instanceof z.ZodPipe ? unwrapped(schema.in) : schema;
}
