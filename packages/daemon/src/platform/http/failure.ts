import { shortageOf } from '@pawl/protocol/home-trouble';
import type { ErrorView } from '@pawl/protocol/view';
import { errorCodes, messageOf, PawlError } from '@pawl/schema/error';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { Platform } from '../platform.ts';

/** What we foresaw, and what the framework says about a body that it cannot read. */
function knownFailure(error: Error): PawlError | null {
  if (error instanceof PawlError) return error;
  if (error instanceof HTTPException && error.status < 500) return new PawlError('invalid_input', error.message);
  return null;
}

/** Every failure in one shape. What was not expected is logged with where it came from, which is not told. */
export function failed(error: Error, context: Context, platform: Platform): Response {
  const known = knownFailure(error) ?? shortageOf(error, platform.home);
  if (known === null) platform.log.error({ error: error.stack, path: context.req.path }, 'a request failed');
  const body: ErrorView = {
    error: known
      ? {
          code: known.code,
          message: known.message,
          ...(known.hint === undefined ? {} : { hint: known.hint }),
          ...(Object.keys(known.details).length === 0 ? {} : { details: known.details }),
        }
      : {
          code: 'internal',
          message: `Something went wrong inside the daemon: ${messageOf(error)}`,
          hint: 'Its log says more.',
        },
  };
  return context.json(body, errorCodes[body.error.code].http as 500);
}
