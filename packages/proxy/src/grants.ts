import { createHash, timingSafeEqual } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Grant } from '@pawl/schema/proxy';
import { grantSchema, secretFileSchema, sessionOfToken } from '@pawl/schema/proxy';
import { readJsonFile } from './read-json-file.ts';

/** The sessions that may use the proxy, read from their files at every call. */
export type Grants = {
  /** The grant of a living session with this token, or null. */
  find(token: string): Promise<Grant | null>;
  /** The ids of the sessions that have a grant; null if the directory is gone. */
  list(): string[] | null;
};

const suffix = '.json';

export function openGrants(directory: string): Grants {
  return {
    async find(token) {
      const sessionId = sessionOfToken(token);
      if (sessionId === null) return null;
      const { data: grant } = grantSchema.safeParse(await readJsonFile(join(directory, `${sessionId}${suffix}`)));
      if (grant === undefined || grant.sessionId !== sessionId || !isSame(grant.tokenHash, hashOf(token))) return null;
      return (await hasEnded(grant)) ? null : grant;
    },
    list() {
      try {
        const names = readdirSync(directory).filter((name) => name.endsWith(suffix));
        return names.map((name) => name.slice(0, -suffix.length));
      } catch {
        return null;
      }
    },
  };
}

/** The SHA-256 of a token, as grants store it. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The key for a session's model calls; null if its account was removed. */
export async function keyOf({ secretFile, variable }: NonNullable<Grant['upstream']>): Promise<string | null> {
  const { data } = secretFileSchema.safeParse(await readJsonFile(secretFile));
  return data?.env[variable] ?? null;
}

/** True if the session has exited, even if no daemon has noticed. */
async function hasEnded({ directory }: Grant): Promise<boolean> {
  return access(join(directory, 'exit')).then(
    () => true,
    () => false,
  );
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
