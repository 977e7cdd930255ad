import type { OpenAPIHono } from '@hono/zod-openapi';
import { webRoutes } from '@pawl/protocol/web/routes';
import { PawlError } from '@pawl/schema/error';
import { setCookie } from 'hono/cookie';
import type { DoorVariables } from '../platform/http/door.ts';
import { requireToken } from '../platform/http/door.ts';
import type { WebSessions } from './web-sessions.ts';

/** The sessions of browsers, and the loopback port once it is known. */
export type WebDoor = { sessions: WebSessions; port(): number | null };

/** Codes and sessions of browsers. */
export function addWebRoutes(app: OpenAPIHono<DoorVariables>, { sessions: web, port }: WebDoor): void {
  app.openapi(webRoutes.webCode, (context) => {
    // A session must not be able to make others that outlive it.
    requireToken(context);
    const known = port();
    if (known === null) throw new PawlError('unavailable', 'The daemon is still starting.', { hint: 'Try again.' });
    return context.json({ ...web.issueCode(), port: known }, 200);
  });
  app.openapi(webRoutes.openWebSession, async (context) => {
    const { code } = context.req.valid('json');
    const { cookie, key } = await web.open(code, context.req.header('user-agent') ?? '');
    setCookie(context, cookie.name, cookie.value, {
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
      maxAge: cookie.maxAgeSeconds,
    });
    return context.json({ key }, 200);
  });
  app.openapi(webRoutes.webSessions, async (context) => {
    const current = context.get('caller');
    const sessions = (await web.list()).map(({ id, browser, createdAt, usedAt, expiresAt }) => ({
      id,
      browser,
      createdAt,
      usedAt,
      expiresAt,
      current: current.kind === 'person' && current.webSessionId === id,
    }));
    return context.json({ sessions }, 200);
  });
  app.openapi(webRoutes.revokeWebSessions, async (context) =>
    context.json({ revoked: await web.revoke(context.req.valid('json').id) }, 200),
  );
}
