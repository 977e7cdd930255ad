import type { OpenAPIHono } from '@hono/zod-openapi';
import { providerRoutes } from '@pawl/protocol/route/provider';
import { listProviders } from '../service/providers.ts';
import type { AppParts } from './app.ts';
import type { DoorVariables } from './door.ts';

/** What coding CLIs there are: nothing secret, so that agents may ask too, for what they delegate. */
export function addProviderRoutes(app: OpenAPIHono<DoorVariables>, { shop }: AppParts): void {
  app.openapi(providerRoutes.listProviders, async (context) => context.json(await listProviders(shop), 200));
}
