import * as z from 'zod';

/** A login as Claude's CLI keeps it. Long-lived setup tokens have neither a refresh token nor an end. */
export type Credentials = { accessToken: string; refreshToken: string | null; expiresAt: number | null };

/** Whether an account can be used, as far as its files tell. */
export type CredentialState =
  | { state: 'valid'; expiresAt: number | null }
  /** Expired, but the CLI gets itself a new one at its next start. */
  | { state: 'refreshable'; expiresAt: number }
  | { state: 'invalid'; error: string }
  /** The CLI keeps its login in a way that only it can read. */
  | { state: 'unknown' };

const loginSchema = z.object({
  claudeAiOauth: z.object({
    accessToken: z.string().min(1),
    refreshToken: z.string().min(1).nullish(),
    expiresAt: z.number().nullish(),
  }),
});

/** The login in the text of a `.credentials.json`; null when it has none. Only the access token is required. */
export function readCredentials(text: string): Credentials | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const { data } = loginSchema.safeParse(value);
  if (data === undefined) return null;
  const { accessToken, refreshToken = null, expiresAt = null } = data.claudeAiOauth;
  return { accessToken, refreshToken, expiresAt };
}

/** True when a login has ended; one without an end never has. */
export function isExpired({ expiresAt }: Pick<Credentials, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/**
 * Whether a login can be used now. An expired one with a refresh token is left to the vendor's own CLI, which renews it at
 * its next start: Pawl itself never speaks to a vendor's login server.
 */
export function ensureValid(credentials: Credentials, now: number): CredentialState {
  const { expiresAt, refreshToken } = credentials;
  if (expiresAt === null || !isExpired(credentials, now)) return { state: 'valid', expiresAt };
  if (refreshToken !== null) return { state: 'refreshable', expiresAt };
  return { state: 'invalid', error: 'the login has expired and cannot be renewed; log in again and add it anew' };
}

/** The text of a login file for a long-lived token. */
export function loginFile(accessToken: string): string {
  return JSON.stringify({ claudeAiOauth: { accessToken } });
}
