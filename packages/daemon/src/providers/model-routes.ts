import type { OpenAPIHono } from '@hono/zod-openapi';
import { accountRoutes } from '@pawl/protocol/accounts/routes';
import type { ModelTest, TestModelBody } from '@pawl/protocol/accounts/view';
import { probeAccount } from '../accounts/probe.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import { callerPath } from '../platform/search-path.ts';
import { engineModel } from './engine-model.ts';

export function addModelRoutes(app: OpenAPIHono<DoorVariables>, { platform }: { platform: SessionPlatform }): void {
  app.openapi(accountRoutes.testModel, async (context) => {
    const body = context.req.valid('json');
    return context.json(await testModel(platform, body, await callerPath(platform, body.searchPath)), 200);
  });
}

/** Asks a model for one word, with the account that its agents would use. */
async function testModel(platform: SessionPlatform, body: TestModelBody, path: string): Promise<ModelTest> {
  const preset = platform.providers.get('pawl');
  const { model, account, env } = await engineModel(platform, preset, body.model);
  const needsNone = Object.keys(env).length > 0;
  const wanted = body.account ?? account ?? undefined;
  const kept = wanted === undefined && needsNone ? null : await platform.accounts.chosen(preset.name, wanted);
  const { ok, text, tookMs } =
    kept === null
      ? await probeAccount({ ...platform, path, preset, use: { env, secrets: [], baseUrl: null }, secrets: [], model })
      : await platform.accounts.test(kept.id, path, model);
  return { model: model ?? body.model, account: kept?.name ?? null, ok, text, tookMs };
}
