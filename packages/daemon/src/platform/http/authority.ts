import { shownForms } from '@pawl/host/output/hidden-text';
import { idSchema } from '@pawl/schema/id';
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hasErrno, PawlError } from '@pawl/schema/error';

/** The caller of a request. Its rights depend on the token only, never on the request's content. */
export type Caller =
  | {
      kind: 'person';
      /** The browser's session, unless the request has the token. */
      webSessionId?: string;
    }
  | { kind: 'agent'; agentId: string };

export type Authority = {
  /** The caller that an Authorization header proves, or null. */
  identify(header: string | undefined): Caller | null;
  /** The token that lets an agent act as itself, and only as itself. */
  agentToken(agentId: string): string;
  /** A hash that only this home can compute. */
  seal(text: string): string;
  /** Compares in constant time. */
  equal(given: string, expected: string): boolean;
  /** All tokens of this home that appear in a text. */
  tokensIn(text: string): string[];
};

/** The tokens of one home: the person's, from its file, and one derived from it for each agent. */
export function createAuthority(personToken: string): Authority {
  const agentToken = (agentId: string) =>
    `${agentId}.${createHmac('sha256', personToken).update(`agent:${agentId}`).digest('base64url')}`;
  const agentOf = (token: string) => {
    const agentId = token.split('.', 1)[0] ?? '';
    return idSchema.safeParse(agentId).success && equal(token, agentToken(agentId)) ? agentId : null;
  };
  return {
    agentToken,
    seal: (text) => createHmac('sha256', personToken).update(`seal:${text}`).digest('base64url'),
    equal,
    identify(header) {
      const given = /^Bearer ([A-Za-z0-9._-]{1,200})$/.exec(header ?? '')?.[1];
      if (given === undefined) return null;
      if (equal(given, personToken)) return { kind: 'person' };
      const agentId = agentOf(given);
      return agentId === null ? null : { kind: 'agent', agentId };
    },
    tokensIn(text) {
      return shownForms(text).flatMap((shown) => {
        const agents = (shown.match(tokenShape) ?? []).filter((token) => agentOf(token) !== null);
        return shown.includes(personToken) ? [personToken, ...agents] : agents;
      });
    },
  };
}

/** An agent id and its proof. */
const tokenShape = /[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}/g;

/** Compares in constant time for any lengths. */
function equal(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** The person's token: 256 random bits in a file that only its owner can read, created on the first start. */
export function personToken(path: string): string {
  const known = readToken(path);
  if (known !== null) return known;
  restoreToken(path, randomBytes(32).toString('base64url'));
  return readToken(path) ?? '';
}

/** Writes a token to its file atomically, readable by its owner only. */
export function restoreToken(path: string, token: string): void {
  const draft = `${path}.${process.pid}.tmp`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${token}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(draft, path);
}

function readToken(path: string): string | null {
  try {
    const { mode, uid } = statSync(path);
    if ((mode & 0o077) !== 0 || uid !== process.getuid?.()) {
      throw new PawlError('forbidden', `${path} can be read by others, or is not yours.`, {
        hint: `If it was not exposed: chmod 600 '${path}'. Otherwise remove it, and a new one is created.`,
      });
    }
    const text = readFileSync(path, 'utf8').trim();
    return /^[A-Za-z0-9_-]{32,128}$/.test(text) ? text : null;
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return null;
    throw error;
  }
}
