import type { OpenAPIHono } from '@hono/zod-openapi';
import { PawlError, hasErrno } from '@pawl/schema/error';
import type { Context } from 'hono';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DoorVariables } from '../platform/http/door.ts';
import { isAssetPath, isPageRequest } from '../platform/http/page-request.ts';

/** Only these are served; a file of another kind is not the page's. */
const types: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** No inline script or style, nothing from elsewhere, no frame around it. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Answers have no document, so nothing may load in one. */
const answerPolicy = "default-src 'none'; frame-ancestors 'none'";

/** Adds the headers that keep browsers from sniffing, framing, and telling other sites about any answer. */
export function guardAnswers(app: OpenAPIHono<DoorVariables>): void {
  app.use(async (context, next) => {
    await next();
    const { headers } = context.res;
    if (!headers.has('content-security-policy')) headers.set('content-security-policy', answerPolicy);
    headers.set('x-content-type-options', 'nosniff');
    headers.set('referrer-policy', 'no-referrer');
    headers.set('cross-origin-resource-policy', 'same-origin');
    headers.set('cross-origin-opener-policy', 'same-origin');
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
  });
}

/** Serves the page. Its files have no data in them, so they need no session; every answer with data does. */
export function addPageFiles(app: OpenAPIHono<DoorVariables>, directory: string): void {
  app.get('*', async (context, next) => {
    if (!isPageRequest(context.req)) return next();
    return isAssetPath(context.req.path) ? asset(context, directory) : page(context, directory);
  });
}

async function asset(context: Context, directory: string): Promise<Response> {
  const name = context.req.path.split('/').at(-1) ?? '';
  const type = /^[\w-]+(?:\.[\w-]+)*\.(css|js|svg)$/.exec(name)?.[1];
  const content = type === undefined ? null : await contentOf(join(directory, 'assets', name));
  if (content === null || type === undefined)
    throw new PawlError('not_found', 'The page has no such file.', { hint: 'Reload the page: Pawl was updated.' });
  return context.body(content, 200, {
    'content-type': types[type] ?? '',
    // Names have a hash of the content.
    'cache-control': 'private, max-age=31536000, immutable',
  });
}

async function page(context: Context, directory: string): Promise<Response> {
  const content = await contentOf(join(directory, 'index.html'));
  if (content === null) throw new PawlError('unavailable', 'The page was not built.', { hint: 'Run `npm run build`.' });
  return context.body(content, 200, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': pagePolicy,
    'cache-control': 'no-store',
  });
}

async function contentOf(path: string): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return null;
    throw error;
  }
}
