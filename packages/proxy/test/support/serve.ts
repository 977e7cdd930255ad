import { join } from 'node:path';
import type { TemporaryDirectory } from '@pawl/testing/temporary';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { personProxy } from '../../src/egress/person-proxy.ts';
import { openGrants } from '../../src/grants.ts';
import type { Served } from '../../src/serve.ts';
import { serveProxy } from '../../src/serve.ts';
import { openSessionRecords } from '../../src/session-record.ts';

export type TestProxy = { root: string; url: string; served: Served } & AsyncDisposable;

/** A proxy in this process, with a directory of its own. */
export async function testProxy(
  resolve?: (host: string) => Promise<string[]>,
  environment: NodeJS.ProcessEnv = {},
): Promise<TestProxy> {
  const place: TemporaryDirectory = await temporaryDirectory();
  const root = place.path;
  const served = await serveProxy({
    grants: openGrants(join(root, 'proxy', 'sessions')),
    records: openSessionRecords(),
    socket: join(root, 'proxy.sock'),
    port: null,
    log: () => undefined,
    personProxy: personProxy(environment),
    ...(resolve === undefined ? {} : { resolve }),
  });
  return {
    root,
    served,
    url: `http://127.0.0.1:${served.port}`,
    async [Symbol.asyncDispose]() {
      served.close();
      await place[Symbol.asyncDispose]();
    },
  };
}
