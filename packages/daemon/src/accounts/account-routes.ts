import type { OpenAPIHono } from '@hono/zod-openapi';
import { accountRoutes } from '@pawl/protocol/accounts/routes';
import { callerPath } from '../platform/search-path.ts';
import type { SessionPlatform } from './session-platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';

export function addAccountRoutes(app: OpenAPIHono<DoorVariables>, { platform }: { platform: SessionPlatform }): void {
  const { accounts } = platform;

  app.openapi(accountRoutes.listAccounts, async (context) =>
    context.json({ accounts: await accounts.list(context.req.valid('query').provider) }, 200),
  );
  app.openapi(accountRoutes.addAccount, async (context) => {
    const added = await accounts.add(context.req.valid('json'));
    return context.json(added, 200);
  });
  app.openapi(accountRoutes.removeAccount, async (context) => {
    const account = await accounts.remove(context.req.valid('param').account);
    return context.json({ account }, 200);
  });
  app.openapi(accountRoutes.useAccount, async (context) => {
    const { clear = false } = context.req.valid('json');
    const account = await accounts.use(context.req.valid('param').account, { clear });
    return context.json({ account }, 200);
  });
  app.openapi(accountRoutes.testAccount, async (context) => {
    const path = await callerPath(platform, context.req.valid('json').searchPath);
    return context.json(await accounts.test(context.req.valid('param').account, path), 200);
  });
}
