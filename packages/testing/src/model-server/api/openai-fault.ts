import type { Fault, WireFault } from '../reply.ts';

type Shape = [status: number, type: string, code: string | null, message: string];

const shapes: Record<Exclude<Fault['error'], 'limit' | 'limit-reset'>, Shape> = {
  quota: [
    429,
    'insufficient_quota',
    'insufficient_quota',
    'You exceeded your current quota, please check your plan and billing details.',
  ],
  overload: [
    503,
    'service_unavailable_error',
    'server_is_overloaded',
    'The server is currently overloaded. Please try again later.',
  ],
  auth: [401, 'invalid_request_error', 'invalid_api_key', 'Incorrect API key provided.'],
  'bad-request': [400, 'invalid_request_error', 'invalid_value', 'The request is not valid.'],
  context: [
    400,
    'invalid_request_error',
    'context_length_exceeded',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
  ],
  'server-error': [
    500,
    'server_error',
    null,
    'The server had an error while processing your request. Sorry about that!',
  ],
};

/** A failure in OpenAI's format. `param` is the blamed field of a bad request. */
export function openaiFault(fault: Fault, param: 'input' | 'messages'): WireFault {
  if (fault.error === 'limit' || fault.error === 'limit-reset') {
    return param === 'input' ? usageLimit(fault) : rateLimit(fault);
  }
  const [status, type, code, message] = shapes[fault.error];
  return {
    status,
    body: { error: { message: fault.message ?? message, type, param: status === 400 ? param : null, code } },
  };
}

/** The answer of a subscription with an exhausted window. */
function usageLimit({ resetsAt, resetsInSeconds }: Fault): WireFault {
  const reset = resetsAt === null ? {} : { resets_at: resetsAt, resets_in_seconds: resetsInSeconds };
  const window = 'x-codex-primary';
  return {
    status: 429,
    headers: {
      [`${window}-used-percent`]: '100',
      [`${window}-window-minutes`]: '300',
      'x-codex-secondary-used-percent': '40',
      'x-codex-secondary-window-minutes': '10080',
      ...(resetsAt === null
        ? {}
        : { [`${window}-reset-at`]: String(resetsAt), [`${window}-reset-after-seconds`]: String(resetsInSeconds) }),
    },
    body: {
      error: { type: 'usage_limit_reached', message: 'The usage limit has been reached', plan_type: 'pro', ...reset },
    },
  };
}

function rateLimit({ resetsInSeconds }: Fault): WireFault {
  const again = resetsInSeconds === null ? 'Please try again later.' : `Please try again in ${resetsInSeconds}s.`;
  return {
    status: 429,
    headers:
      resetsInSeconds === null
        ? {}
        : {
            'retry-after': String(resetsInSeconds),
            'x-ratelimit-limit-requests': '500',
            'x-ratelimit-remaining-requests': '0',
            'x-ratelimit-reset-requests': `${resetsInSeconds}s`,
          },
    body: {
      error: {
        message: `Rate limit reached for requests: limit 500, used 500. ${again}`,
        type: 'requests',
        param: null,
        code: 'rate_limit_exceeded',
      },
    },
  };
}
