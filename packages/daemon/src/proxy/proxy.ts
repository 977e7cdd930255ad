import { createSerial } from '@pawl/core/sessions/turn-taking';
import type { Home } from '@pawl/protocol/node/home';
import { crashPoint } from '@pawl/schema/crash-point';
import { messageOf } from '@pawl/schema/error';
import { sessionById } from '@pawl/store/sessions/sessions';
import type { Store } from '@pawl/store/store';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { SessionProxy } from '../accounts/session-proxy.ts';
import { grantFiles } from './grant-files.ts';
import type { ServingProxy } from './proxy-process.ts';
import { endProxy, findProxy, startProxy } from './proxy-process.ts';

type ProxyParts = { home: Home; store: Store; environment: NodeJS.ProcessEnv; log: Logger };

/** The daemon's side of the proxy: grants, and a process that serves while there are any. */
export type ProxyRoom = SessionProxy & {
  /** Revokes the grants of sessions that have ended, and serves the others again. */
  settle(): Promise<void>;
  /** Stops watching. The proxy keeps running while sessions need it. */
  close(): void;
};

/** How often to look whether the proxy still serves. */
const lookMs = 500;

export function openProxy({ home, store, environment, log }: ProxyParts): ProxyRoom {
  const files = grantFiles(join(home.proxy, 'sessions'));
  const granted = new Set<string>();
  const serially = createSerial();
  let closed = false;

  /** Finds the proxy or starts one; replaces one of another release if no other session uses it. */
  async function serve(): Promise<ServingProxy> {
    const found = await findProxy(home);
    if (found?.isCurrent === true) return found;
    if (found !== null) {
      if ((await files.list()).length > 1) return found;
      await endProxy(home, found);
    }
    return startProxy(home, environment, () => void restore());
  }

  /** Starts the proxy again if it died while sessions need it. */
  async function restore(): Promise<void> {
    if (closed || granted.size === 0) return;
    try {
      await serially(async () => {
        if (closed || granted.size === 0 || (await findProxy(home)) !== null) return;
        log.warn('the proxy is gone; starting it again');
        await serve();
      });
    } catch (error) {
      log.error({ error: messageOf(error) }, 'failed to start the proxy');
    }
  }

  const timer = setInterval(() => void restore(), lookMs).unref();

  return {
    async grant(given) {
      granted.add(given.sessionId);
      // Before looking for a proxy: one that is about to exit reads the grants last.
      const token = await files.write(given);
      crashPoint('spawn.after_grant');
      const { port } = await serially(serve);
      return { token, port };
    },
    setNetwork: (sessionId, network) =>
      serially(async () => {
        if (granted.has(sessionId)) await files.setNetwork(sessionId, network);
      }),
    async revoke(sessionId) {
      granted.delete(sessionId);
      // After a change of the grant that has begun, which would write the file again.
      await serially(() => files.remove(sessionId));
    },
    async settle() {
      for (const sessionId of await files.list()) {
        const session = await sessionById(store.db, sessionId);
        if (session === null || session.endedAt !== null) await files.remove(sessionId);
        else granted.add(sessionId);
      }
      void restore();
    },
    close() {
      closed = true;
      clearInterval(timer);
    },
  };
}
