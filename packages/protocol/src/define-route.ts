import type { RouteConfig } from '@hono/zod-openapi';
import { createRoute } from '@hono/zod-openapi';
import type { Access } from '@pawl/schema/access';
import * as z from 'zod';
import { errorViewSchema } from './error-view.ts';

/** Defines a route with its method, path, schemas and agents' access. */
export function defineRoute<const R extends RouteConfig & { access: Access }>(config: R) {
  // The OpenAPI document has all enumerable properties of a route; access is not part of it.
  return Object.defineProperty(createRoute<R['path'], R>(config), 'access', { enumerable: false });
}

const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });

/** A required JSON body. */
export const body = <T extends z.ZodType>(schema: T) => ({ content: json(schema), required: true as const });

/** The responses of a route: the JSON answer, or a failure. */
export const answers = <T extends z.ZodType>(description: string, schema: T) => ({
  200: { description, content: json(schema) },
  default: { description: 'It did not work; the body says why and what to do.', content: json(errorViewSchema) },
});

/** The responses of a route that answers with JSON or, on `Accept: text/event-stream`, with a stream. */
export const answersOrStream = <T extends z.ZodType>(description: string, schema: T) => ({
  ...answers(description, schema),
  200: { description, content: { ...json(schema), 'text/event-stream': { schema: z.string() } } },
});

/** The header of requests that are carried out once, however often they are sent. */
export const idempotency = z.object({ 'idempotency-key': z.string().min(8).max(128).optional() });

/** The path parameter that names an agent, by id or alias. */
export const reference = z.object({ reference: z.string().min(1).max(128) });

export const wholeNumber = z.coerce.number().int().nonnegative();
