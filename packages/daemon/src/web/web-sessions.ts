import type { WebSession } from '@pawl/schema/web/web-session';
import { webLimits } from '@pawl/schema/web/web-session';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import {
  insertWebSession,
  markWebSessionUsed,
  revokeWebSession,
  validWebSession,
  validWebSessions,
} from '@pawl/store/web/web-sessions';
import type { Platform } from '../platform/platform.ts';
import { createWebCodes, newSecret } from './web-codes.ts';

/** Exchanged for a code: the cookie, which its scripts cannot read, and the key, which only its origin can. */
type Admission = { cookie: { name: string; value: string; maxAgeSeconds: number }; key: string };

export type WebSessions = {
  /** A code for one exchange. */
  issueCode(): { code: string; expiresAt: number };
  /** Exchanges a code. A code that comes a second time was stolen by one of the two, so both lose. */
  open(code: string, browser: string): Promise<Admission>;
  /** The session that a Cookie header and a page's key prove, with a signal that aborts when it is revoked; or null. */
  identify(cookies: string | undefined, key: string | undefined): Promise<{ id: string; ended: AbortSignal } | null>;
  list(): Promise<WebSession[]>;
  /** Revokes one session, by the start of its id, or all. */
  revoke(reference: string | undefined): Promise<string[]>;
};

const secretPattern = /^[A-Za-z0-9_-]{43}$/;

/** The sessions of browsers in this home. */
export function createWebSessions(platform: Pick<Platform, 'store' | 'clock' | 'authority'>): WebSessions {
  const { store, clock, authority } = platform;
  const codes = createWebCodes(clock);
  const streams = new Map<string, AbortController>();
  const cookieName = `pawl-${authority.seal('web cookie').slice(0, 12)}`;
  /** Keyed by the home's token: the cookie of another home, or of an earlier token, proves nothing. */
  const proofOf = (id: string, secret: string, key: string) => authority.seal(`web session:${id}:${secret}:${key}`);

  async function end(ids: string[], by: 'person' | 'reuse'): Promise<string[]> {
    const revoked = await revokeAll(platform, ids, by);
    for (const id of ids) {
      streams.get(id)?.abort();
      streams.delete(id);
    }
    return revoked;
  }

  return {
    issueCode: codes.issue,

    async open(code, browser) {
      const [id, secret, key] = [newId(), newSecret(), newSecret()];
      const redeemed = codes.redeem(code, id);
      if (redeemed.is === 'unknown') throw refused('is not valid');
      if (redeemed.is === 'again') {
        await end([redeemed.sessionId], 'reuse');
        throw refused('was used before, so the session that it opened was revoked');
      }
      const now = clock();
      await store.write(async (tx) => {
        await insertWebSession(tx, {
          id,
          proof: proofOf(id, secret, key),
          browser: browser.slice(0, webLimits.browserCharacters),
          createdAt: now,
          usedAt: now,
          expiresAt: now + webLimits.sessionMs,
          revokedAt: null,
        });
        tx.emit({ type: 'web.session_opened', data: { sessionId: id } });
      });
      const cookie = { name: cookieName, value: `${id}.${secret}`, maxAgeSeconds: webLimits.sessionMs / 1_000 };
      return { cookie, key };
    },

    async identify(cookies, key) {
      const [id = '', secret = ''] = cookieOf(cookies, cookieName)?.split('.') ?? [];
      if (key === undefined || !secretPattern.test(secret) || !secretPattern.test(key)) return null;
      const session = await validWebSession(store.db, id, clock());
      if (session === null || !authority.equal(session.proof, proofOf(id, secret, key))) return null;
      if (clock() - session.usedAt >= webLimits.usedEveryMs) await store.write((tx) => markWebSessionUsed(tx, id));
      const ending = streams.get(id) ?? new AbortController();
      streams.set(id, ending);
      return { id, ended: ending.signal };
    },

    list: () => validWebSessions(store.db, clock()),
    revoke: async (reference) => end(meant(await validWebSessions(store.db, clock()), reference), 'person'),
  };
}

async function revokeAll({ store }: Pick<Platform, 'store'>, ids: string[], by: 'person' | 'reuse'): Promise<string[]> {
  return store.write(async (tx) => {
    const revoked: string[] = [];
    for (const id of ids) {
      if (!(await revokeWebSession(tx, id))) continue;
      tx.emit({ type: 'web.session_revoked', data: { sessionId: id, by } });
      revoked.push(id);
    }
    return revoked;
  });
}

/** The sessions that a person names: one, by the start of its id, or all. */
function meant(sessions: WebSession[], reference: string | undefined): string[] {
  const ids = sessions.map(({ id }) => id).filter((id) => reference === undefined || id.startsWith(reference));
  if (reference === undefined || ids.length === 1) return ids;
  const hint = 'See `pawl web sessions`.';
  throw ids.length === 0
    ? new PawlError('not_found', 'There is no such session.', { hint })
    : new PawlError('ambiguous', 'Several sessions start like this.', { hint });
}

function refused(why: string): PawlError {
  return new PawlError('unauthorized', `The code ${why}.`, { hint: 'Run `pawl web` again.' });
}

/** The value of one cookie; the first, if a header names it twice. */
function cookieOf(header: string | undefined, name: string): string | undefined {
  const start = `${name}=`;
  return header
    ?.split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(start))
    ?.slice(start.length);
}
