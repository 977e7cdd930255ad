import { join } from 'node:path';

/** The files of a home's proxy, in a directory that only its owner can enter. */
export type ProxyFiles = {
  directory: string;
  /** One file for each session that may use the proxy. */
  grants: string;
  /** Held by the proxy that serves. */
  lock: string;
  /** Names the proxy that serves, and its port. */
  served: string;
};

export function proxyFiles(directory: string): ProxyFiles {
  return {
    directory,
    grants: join(directory, 'sessions'),
    lock: join(directory, 'proxy.lock'),
    served: join(directory, 'proxy.json'),
  };
}
