import { PawlError } from '@pawl/schema/error';
import { webLimits } from '@pawl/schema/web/web-session';
import { createHash, randomBytes } from 'node:crypto';

type Code = {
  expiresAt: number;
  /** The session that it was exchanged for; null until then. */
  sessionId: string | null;
};

/** `again`: the code was used before, for this session. */
export type Redeemed = { is: 'valid' } | { is: 'again'; sessionId: string } | { is: 'unknown' };

export type WebCodes = {
  issue(): { code: string; expiresAt: number };
  /** Uses a code up for a session. */
  redeem(code: string, sessionId: string): Redeemed;
};

/** Codes for one exchange. They live in memory, as hashes: a new daemon knows none. */
export function createWebCodes(clock: () => number): WebCodes {
  const codes = new Map<string, Code>();

  function forgetOld(): void {
    const now = clock();
    for (const [name, { expiresAt, sessionId }] of codes)
      if (now > expiresAt + (sessionId === null ? 0 : webLimits.usedCodeMs)) codes.delete(name);
  }

  return {
    issue() {
      forgetOld();
      const unused = [...codes.values()].filter(({ sessionId }) => sessionId === null);
      if (unused.length >= webLimits.codes)
        throw new PawlError('busy', 'Too many codes were issued just now.', { hint: 'Wait half a minute.' });
      const code = newSecret();
      const expiresAt = clock() + webLimits.codeMs;
      codes.set(hash(code), { expiresAt, sessionId: null });
      return { code, expiresAt };
    },
    redeem(code, sessionId) {
      forgetOld();
      const known = codes.get(hash(code));
      if (known === undefined) return { is: 'unknown' };
      if (known.sessionId !== null) return { is: 'again', sessionId: known.sessionId };
      known.sessionId = sessionId;
      return { is: 'valid' };
    },
  };
}

/** 256 random bits. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
