import { hasErrno } from '@pawl/schema/error';
import type { Grant } from '@pawl/schema/proxy';
import { grantFormat, grantSchema, sessionToken } from '@pawl/schema/proxy';
import { createHash, randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openPrivateDirectory, readBoundedFile, writePrivateFile } from '../accounts/private-file.ts';
import type { SessionGrant } from '../accounts/session-proxy.ts';

/** The files that tell the proxy what each session may do: `proxy/sessions/<session>.json`, 0600. */
export type GrantFiles = {
  /** Writes the grant of a session with a new token, and returns the token, which is kept nowhere. */
  write(given: SessionGrant): Promise<string>;
  /** Changes the hosts of a session that has a grant. */
  setNetwork(sessionId: string, network: Grant['network']): Promise<void>;
  remove(sessionId: string): Promise<void>;
  /** The sessions with a grant. */
  list(): Promise<string[]>;
};

const suffix = '.json';
const grantBytes = 2 * 1024 * 1024;

export function grantFiles(directory: string): GrantFiles {
  const fileOf = (sessionId: string) => join(directory, `${sessionId}${suffix}`);
  return {
    async write(given) {
      openPrivateDirectory(directory);
      const token = sessionToken(given.sessionId, randomBytes(32).toString('base64url'));
      const tokenHash = createHash('sha256').update(token).digest('hex');
      const grant: Grant = { format: grantFormat, ...given, tokenHash };
      await writePrivateFile(fileOf(given.sessionId), JSON.stringify(grant));
      return token;
    },
    async setNetwork(sessionId, network) {
      const text = await readBoundedFile(fileOf(sessionId), grantBytes);
      if (text === null) return;
      const grant = grantSchema.parse(JSON.parse(text));
      await writePrivateFile(fileOf(sessionId), JSON.stringify({ ...grant, network }));
    },
    remove: (sessionId) => rm(fileOf(sessionId), { force: true }),
    async list() {
      try {
        const names = await readdir(directory);
        return names.filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length));
      } catch (error) {
        if (hasErrno(error, 'ENOENT')) return [];
        throw error;
      }
    },
  };
}
