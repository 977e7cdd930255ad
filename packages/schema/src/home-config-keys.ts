import * as z from 'zod';
import { homeConfigSchema } from './home-config.ts';

/** What is wrong with a config, in words; null when it is right. */
export function homeConfigProblem(value: unknown): string | null {
  const parsed = homeConfigSchema.safeParse(value);
  return parsed.success ? null : z.prettifyError(parsed.error);
}

/** The config with its defaults filled in. It has to be right. */
export function filledHomeConfig(value: unknown): unknown {
  return homeConfigSchema.parse(value);
}

/** The keys of single settings, with dots between the levels. One whose parts a person names freely counts as one. */
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

/** The schema without what only adds a default, or null, or changes the value afterwards. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return unwrapped(schema.unwrap());
  return schema instanceof z.ZodPipe ? unwrapped(schema.in) : schema;
}
