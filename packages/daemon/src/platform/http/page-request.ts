import type { HonoRequest } from 'hono';

/** Paths that are answers, never pages. */
const answerPaths = /^\/(?:api|mcp|healthz)(?:\/|$)/;

export function isAssetPath(path: string): boolean {
  return path.startsWith('/assets/');
}

/** True for files of the page: its assets, and its one document at every address that a browser opens. */
export function isPageRequest(request: Pick<HonoRequest, 'method' | 'path' | 'header'>): boolean {
  if (request.method !== 'GET' || answerPaths.test(request.path)) return false;
  return request.path === '/' || isAssetPath(request.path) || (request.header('accept') ?? '').includes('text/html');
}
