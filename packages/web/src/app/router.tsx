import type { RouteComponent } from '@tanstack/react-router';
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { AgentPage } from '../agent/agent-page.tsx';
import { BoardPage } from '../board/board-page.tsx';
import { InboxPage } from '../inbox/inbox-page.tsx';
import { Empty, Failure } from '../parts/basic.tsx';
import type { Live } from './live.ts';
import { Shell } from './shell.tsx';

/** All pages by their addresses. Pages that few people open first are loaded when needed. */
export function createPages(live: Live) {
  const root = createRootRoute({
    component: () => <Shell live={live} />,
    notFoundComponent: () => <Empty command="pawl web">There is no such page. The inbox is at /.</Empty>,
    errorComponent: ({ error }) => (
      <div className="p-4">
        <Failure error={error} again={() => location.reload()} />
      </div>
    ),
  });
  const at = <const Path extends string>(path: Path, component: RouteComponent) =>
    createRoute({ getParentRoute: () => root, path, component });
  return createRouter({
    routeTree: root.addChildren([
      at('/', InboxPage),
      at('/board', BoardPage),
      at('/agents/$id', AgentPage),
      at(
        '/changes',
        lazyRouteComponent(() => import('../changes/changes-page.tsx'), 'ChangesPage'),
      ),
      at(
        '/changes/$id',
        lazyRouteComponent(() => import('../changes/change-page.tsx'), 'ChangePage'),
      ),
      at(
        '/queue',
        lazyRouteComponent(() => import('../queue/queue-page.tsx'), 'QueuePage'),
      ),
      at(
        '/tree',
        lazyRouteComponent(() => import('../other/tree-page.tsx'), 'TreePage'),
      ),
      at(
        '/usage',
        lazyRouteComponent(() => import('../other/usage-page.tsx'), 'UsagePage'),
      ),
      at(
        '/events',
        lazyRouteComponent(() => import('../other/events-page.tsx'), 'EventsPage'),
      ),
      at(
        '/settings',
        lazyRouteComponent(() => import('../other/settings-page.tsx'), 'SettingsPage'),
      ),
    ]),
    defaultPreload: false,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createPages>;
  }
}
