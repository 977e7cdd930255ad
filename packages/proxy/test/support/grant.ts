import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { newId } from '@pawl/schema/id';
import type { Grant, ProxyLine } from '@pawl/schema/proxy';
import { grantFormat, proxyLineSchema, proxyRecordName, sessionToken } from '@pawl/schema/proxy';
import { hashOf } from '../../src/grants.ts';

export const key = 'sk-test-real-key-Qm7vXr2Lp9';

export type Granted = { grant: Grant; token: string; file: string; lines(): Promise<ProxyLine[]> };

/** Writes a grant as the daemon does, with its session's directory and its account's secret. */
export async function grantSession(
  root: string,
  given: { baseUrl?: string; tokens?: number | null; allow?: string[] | null; deny?: string[]; own?: string[] },
): Promise<Granted> {
  const sessionId = newId();
  const directory = join(root, sessionId);
  const grants = join(root, 'proxy', 'sessions');
  const secretFile = join(root, 'secret.json');
  await Promise.all([mkdir(directory), mkdir(grants, { recursive: true })]);
  await writeFile(secretFile, JSON.stringify({ env: { ANTHROPIC_API_KEY: key } }), { mode: 0o600 });
  const token = sessionToken(sessionId, randomBytes(32).toString('base64url'));
  const { baseUrl, tokens = null, allow = null, deny = [], own } = given;
  const grant: Grant = {
    format: grantFormat,
    sessionId,
    tokenHash: hashOf(token),
    directory,
    upstream: baseUrl === undefined ? null : { baseUrl, secretFile, variable: 'ANTHROPIC_API_KEY' },
    tokens,
    network: allow === null ? null : { allow, deny, ...(own === undefined ? {} : { own }) },
  };
  const file = join(grants, `${sessionId}.json`);
  await writeFile(file, JSON.stringify(grant), { mode: 0o600 });
  return {
    grant,
    token,
    file,
    async lines() {
      const text = await readFile(join(directory, proxyRecordName), 'utf8').catch(() => '');
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => proxyLineSchema.parse(JSON.parse(line)));
    },
  };
}
