import { shortageOf } from '@pawl/protocol/node/home-trouble';
import type { ErrorView } from '@pawl/protocol/error-view';
import { errorCodes, messageOf, PawlError } from '@pawl/schema/error';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { Platform } from '../platform.ts';

/** Errors of ours, and the framework's errors about bodies it cannot parse. */
function knownFailure(error: Error): PawlError | null {
  if (error instanceof PawlError) return error;
  if (error instanceof HTTPException && error.status < 500) return new PawlError('invalid_input', error.message);
  return null;
}

/** Renders every error in one shape. Logs unexpected ones with their stack, which the caller does not see. */
export function failed(error: Error, context: Context, platform: Platform): Response {
  const known = knownFailure(error) ?? shortageOf(error, platform.home);
  if (known === null) platform.log.error({ error: error.stack, path: context.req.path }, 'request failed');
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
          message: `The daemon failed: ${messageOf(error)}`,
          hint: 'See the daemon log for details.',
        },
  };
  return context.json(body, errorCodes[body.error.code].http as 500);
}
