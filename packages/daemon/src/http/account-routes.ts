import type { OpenAPIHono } from '@hono/zod-openapi';
import { accountRoutes } from '@pawl/protocol/route/account';
import type { AppParts } from './app.ts';
import type { DoorVariables } from './door.ts';

/** What is asked of accounts, and done to them. */
export function addAccountRoutes(app: OpenAPIHono<DoorVariables>, { shop: { accounts } }: AppParts): void {
  app.openapi(accountRoutes.listAccounts, async (context) =>
    context.json({ accounts: await accounts.list(context.req.valid('query').provider) }, 200),
  );
  app.openapi(accountRoutes.addAccount, async (context) =>
    context.json(await accounts.add(context.req.valid('json')), 200),
  );
  app.openapi(accountRoutes.removeAccount, async (context) =>
    context.json({ account: await accounts.remove(context.req.valid('param').account) }, 200),
  );
  app.openapi(accountRoutes.useAccount, async (context) => {
    const { clear = false } = context.req.valid('json');
    return context.json({ account: await accounts.use(context.req.valid('param').account, { clear }) }, 200);
  });
  app.openapi(accountRoutes.testAccount, async (context) =>
    context.json(await accounts.test(context.req.valid('param').account), 200),
  );
}
