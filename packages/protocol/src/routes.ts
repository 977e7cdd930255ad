import type { Access } from '@pawl/schema/access';
import { forAgents } from './access.ts';
import { accountRoutes } from './accounts/routes.ts';
import { errandRoutes } from './agents/errands/routes.ts';
import { historyRoutes } from './agents/history/routes.ts';
import { agentRoutes } from './agents/routes.ts';
import { runRoutes } from './agents/runs/routes.ts';
import { worktreeRoutes } from './agents/worktrees/routes.ts';
import { changeRoutes } from './changes/routes.ts';
import { daemonRoutes } from './daemon/routes.ts';
import { definitionRoutes } from './definitions/routes.ts';
import { mailRoutes } from './mail/routes.ts';
import { planRoutes } from './plan/plan-routes.ts';
import { proposalRoutes } from './plan/proposal-routes.ts';
import { reviewRoutes } from './plan/review-routes.ts';
import { taskRoutes } from './plan/routes.ts';
import { projectRoutes } from './projects/routes.ts';
import { promptRoutes } from './prompts/routes.ts';
import { questionRoutes } from './questions/routes.ts';
import { queueRoutes } from './queue/routes.ts';
import { selectionRoutes } from './registry/routes.ts';
import { rosterRoutes } from './roster/routes.ts';
import { ruleRoutes } from './rules/routes.ts';
import { runtimeRoutes } from './runtime/routes.ts';
import { webRoutes } from './web/routes.ts';
import { sessionRoutes } from './sessions/routes.ts';

/** Every route of the daemon, with method, path, input, answer and access; the daemon adds only the handler. */
export const routes = {
  ...changeRoutes,
  ...queueRoutes,
  ...taskRoutes,
  ...planRoutes,
  ...proposalRoutes,
  ...reviewRoutes,
  ...agentRoutes,
  ...runRoutes,
  ...historyRoutes,
  ...errandRoutes,
  ...worktreeRoutes,
  ...mailRoutes,
  ...questionRoutes,
  ...promptRoutes,
  ...ruleRoutes,
  ...sessionRoutes,
  ...runtimeRoutes,
  ...definitionRoutes,
  ...projectRoutes,
  ...selectionRoutes,
  ...rosterRoutes,
  ...accountRoutes,
  ...daemonRoutes,
  ...webRoutes,
} as const;

/** The list of routes, which is served beside them. */
export const openapi = { path: '/api/openapi.json', access: forAgents('read the list of routes', '7.23') };

/** Agents' access to each route, and to the list of routes. */
export function accessByRoute(): [name: string, access: Access][] {
  return [...Object.entries(routes), ['openapi', openapi] as const].map(([name, { access }]) => [name, access]);
}
