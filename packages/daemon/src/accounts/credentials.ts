import * as z from 'zod';

/** A login as Claude's CLI stores it. Long-lived setup tokens have neither a refresh token nor an expiry. */
export type Credentials = { accessToken: string; refreshToken: string | null; expiresAt: number | null };

/** Whether an account can be used, judging by its files. */
export type CredentialState =
  | { state: 'valid'; expiresAt: number | null }
  /** Expired, but the CLI renews it at its next start. */
  | { state: 'refreshable'; expiresAt: number }
  | { state: 'invalid'; error: string }
  /** The CLI stores its login in a way that only it can read. */
  | { state: 'unknown' };

const loginSchema = z.object({
  claudeAiOauth: z.object({
    accessToken: z.string().min(1),
    refreshToken: z.string().min(1).nullish(),
    expiresAt: z.number().nullish(),
  }),
});

/** Parses a `.credentials.json`; null if it has no login. Only the access token is required. */
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

/** True if a login has expired; one without an expiry never does. */
export function isExpired({ expiresAt }: Pick<Credentials, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/**
 * Judges a login. An expired one with a refresh token is left to the vendor's CLI, which renews it at its next start:
 * Pawl never contacts a vendor's login server.
 */
export function ensureValid(credentials: Credentials, now: number): CredentialState {
  const { expiresAt, refreshToken } = credentials;
  if (expiresAt === null || !isExpired(credentials, now)) return { state: 'valid', expiresAt };
  if (refreshToken !== null) return { state: 'refreshable', expiresAt };
  return { state: 'invalid', error: 'the login has expired and cannot be renewed; log in again, and add it again' };
}

/** The text of a login file for a long-lived token. */
export function loginFile(accessToken: string): string {
  return JSON.stringify({ claudeAiOauth: { accessToken } });
}
