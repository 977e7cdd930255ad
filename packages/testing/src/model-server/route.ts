import { anthropic } from './api/anthropic.ts';
import type { Api } from './api/api.ts';
import { chat } from './api/chat.ts';
import { gemini } from './api/gemini.ts';
import { responses } from './api/responses.ts';

/** The operation of a request, from its method and path alone. */
export type Route = { prefix: string | null } & (
  | { kind: 'answer'; api: Api; model: string | null; stream: boolean | null }
  | { kind: 'count'; api: Api }
  | { kind: 'models'; api: Api }
  | { kind: 'alive' }
  | { kind: 'unknown'; api: Api }
);

/** Parses the path. A scenario may come first, as `/s/<name>`; `/v1` may be missing. */
export function routeOf(method: string, pathname: string): Route {
  const [, prefix = null, rest = ''] = /^(?:\/s\/([\w.-]+))?(\/.*)?$/.exec(pathname) ?? [];
  const path = rest.replace(/\/+$/, '').replace(/^\/(v1beta|v1alpha|v1)(?=\/|$)/, '');
  if (method === 'GET' || method === 'HEAD') {
    if (path === '') return { prefix, kind: 'alive' };
    if (!/^\/models(\/|$)/.test(path)) return { prefix, kind: 'unknown', api: anthropic };
    return { prefix, kind: 'models', api: rest.startsWith('/v1beta') ? gemini : responses };
  }
  if (method !== 'POST') return { prefix, kind: 'unknown', api: anthropic };
  const [, model = null, action = ''] = /^\/models\/([^/:]+):(\w+)$/.exec(path) ?? [];
  if (model !== null) return geminiRoute(prefix, decode(model), action);
  switch (path) {
    case '/messages':
      return { prefix, kind: 'answer', api: anthropic, model, stream: null };
    case '/messages/count_tokens':
      return { prefix, kind: 'count', api: anthropic };
    case '/responses':
      return { prefix, kind: 'answer', api: responses, model, stream: null };
    case '/chat/completions':
      return { prefix, kind: 'answer', api: chat, model, stream: null };
    default:
      return { prefix, kind: 'unknown', api: path.startsWith('/messages') ? anthropic : chat };
  }
}

function geminiRoute(prefix: string | null, model: string, action: string): Route {
  if (action === 'countTokens') return { prefix, kind: 'count', api: gemini };
  if (action !== 'generateContent' && action !== 'streamGenerateContent') {
    return { prefix, kind: 'unknown', api: gemini };
  }
  return { prefix, kind: 'answer', api: gemini, model, stream: action === 'streamGenerateContent' };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
