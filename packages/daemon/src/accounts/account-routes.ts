import type { OpenAPIHono } from '@hono/zod-openapi';
import { accountRoutes } from '@pawl/protocol/route/account';
import { endAccountWaits } from '@pawl/store/sessions/runs';
import { callerPath } from '../platform/search-path.ts';
import type { SessionPlatform } from './session-platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';

/** What is asked of accounts, and done to them. */
export function addAccountRoutes(
  app: OpenAPIHono<DoorVariables>,
  { platform, reconciler }: { platform: SessionPlatform; reconciler: { wake(agentId: string): void } },
): void {
  const { accounts } = platform;

  /** Whoever waits for an account of this provider looks again: there may be one now. */
  async function endWaits(provider: string): Promise<void> {
    const waiting = await platform.store.write((tx) => endAccountWaits(tx, provider));
    for (const agentId of waiting) reconciler.wake(agentId);
  }

  app.openapi(accountRoutes.listAccounts, async (context) =>
    context.json({ accounts: await accounts.list(context.req.valid('query').provider) }, 200),
  );
  app.openapi(accountRoutes.addAccount, async (context) => {
    const added = await accounts.add(context.req.valid('json'));
    await endWaits(added.account.provider);
    return context.json(added, 200);
  });
  app.openapi(accountRoutes.removeAccount, async (context) => {
    const account = await accounts.remove(context.req.valid('param').account);
    await endWaits(account.provider);
    return context.json({ account }, 200);
  });
  app.openapi(accountRoutes.useAccount, async (context) => {
    const { clear = false } = context.req.valid('json');
    const account = await accounts.use(context.req.valid('param').account, { clear });
    await endWaits(account.provider);
    return context.json({ account }, 200);
  });
  app.openapi(accountRoutes.testAccount, async (context) => {
    const path = await callerPath(platform, context.req.valid('json').searchPath);
    return context.json(await accounts.test(context.req.valid('param').account, path), 200);
  });
}
