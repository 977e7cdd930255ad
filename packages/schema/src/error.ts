/**
 * Every expected failure is a PawlError with one of these codes. This table is the only place that maps a code to an
 * HTTP status and to the exit code of the command line.
 *
 *   exit 0 ok · 1 failure · 2 usage · 3 not found · 4 conflict · 5 timeout · 6 budget · 7 needs input
 *        8 not allowed · 9 no daemon · 130 interrupted · 143 terminated
 */
export const errorCodes = {
  usage: { http: 400, exit: 2 },
  invalid_input: { http: 400, exit: 2 },
  too_large: { http: 413, exit: 2 },
  unsupported_media_type: { http: 415, exit: 2 },
  not_a_repository: { http: 400, exit: 2 },
  no_commits: { http: 400, exit: 2 },
  unknown_provider: { http: 400, exit: 2 },
  /** No coding agent was chosen, and the installed ones leave it open. */
  no_provider: { http: 400, exit: 2 },
  not_found: { http: 404, exit: 3 },
  agent_not_found: { http: 404, exit: 3 },
  project_not_found: { http: 404, exit: 3 },
  ambiguous: { http: 409, exit: 4 },
  conflict: { http: 409, exit: 4 },
  /** It would work, but not now: something else must finish first. */
  busy: { http: 409, exit: 4 },
  already_running: { http: 409, exit: 4 },
  timeout: { http: 504, exit: 5 },
  budget: { http: 402, exit: 6 },
  needs_input: { http: 409, exit: 7 },
  unauthorized: { http: 401, exit: 8 },
  forbidden: { http: 403, exit: 8 },
  daemon_unreachable: { http: 503, exit: 9 },
  unavailable: { http: 503, exit: 1 },
  git_failed: { http: 500, exit: 1 },
  host_failed: { http: 500, exit: 1 },
  store_failed: { http: 500, exit: 1 },
  store_too_new: { http: 500, exit: 1 },
  internal: { http: 500, exit: 1 },
} as const satisfies Record<string, { http: number; exit: number }>;

export type ErrorCode = keyof typeof errorCodes;

/** An expected failure. `message` says what happened, `hint` what to do next. */
export class PawlError extends Error {
  override readonly name = 'PawlError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: Record<string, unknown>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint?: string; details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.details = options.details ?? {};
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** True for a Node.js system error with one of these codes, such as `ENOENT`. */
export function hasErrno(error: unknown, ...errnos: string[]): boolean {
  return error instanceof Error && 'code' in error && errnos.includes(String(error.code));
}

/** Errors of an exhausted system resource: transient, and unrelated to the request. */
const passingErrnos = ['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EIO'];

/** True if a later retry may well succeed. */
export function isPassing(error: unknown): boolean {
  if (error instanceof PawlError && error.code === 'unavailable') return true;
  if (hasErrno(error, ...passingErrnos)) return true;
  return error instanceof Error && error.cause !== undefined && isPassing(error.cause);
}
