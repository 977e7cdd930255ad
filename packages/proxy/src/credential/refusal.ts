import type { ServerResponse } from 'node:http';

/** Refuses a model call in the format of its vendor, so that the CLI shows the message and does not retry. */
export function refuseCall(response: ServerResponse, path: string, status: number, message: string): void {
  if (response.headersSent) return void response.destroy();
  const text = JSON.stringify(bodyOf(path, status, message));
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...(status < 500 ? { 'x-should-retry': 'false' } : {}),
  });
  response.end(text);
}

function bodyOf(path: string, status: number, message: string): object {
  if (/\/v1(alpha|beta)?\/.*models\/|:\w*[gG]enerateContent/.test(path)) {
    const name = status === 401 ? 'UNAUTHENTICATED' : status < 500 ? 'FAILED_PRECONDITION' : 'UNAVAILABLE';
    return { error: { code: status, message, status: name } };
  }
  if (/\/messages(\/|$)/.test(path)) {
    const type = status === 401 ? 'authentication_error' : status < 500 ? 'invalid_request_error' : 'api_error';
    return { type: 'error', error: { type, message } };
  }
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  return { error: { message, type, param: null, code: status === 401 ? 'invalid_api_key' : null } };
}
