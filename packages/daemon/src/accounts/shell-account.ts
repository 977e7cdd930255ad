import type { ProviderPreset } from '@pawl/core/port/provider';
import type { Account } from '@pawl/schema/record';
import { accountByName } from '@pawl/store/projects/accounts';
import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { AccountFiles } from './account-files.ts';
import type { AccountParts } from './accounts.ts';
import { storeAccount } from './add-account.ts';
import { readBoundedFile, writePrivateFile } from './private-file.ts';

const keyBytes = 32;
const nameDigits = 8;

/**
 * Stores a shell's variables for a provider as an account for that shell's agents; it takes no part in rotation. A
 * keyed hash, which reveals nothing, finds the same values again.
 */
export async function captureShell(
  platform: AccountParts & { files: AccountFiles },
  preset: ProviderPreset,
  variables: Record<string, string>,
): Promise<Account | null> {
  const names = preset.variables.secrets.filter((name) => (variables[name] ?? '') !== '').toSorted();
  if (names.length === 0) return null;
  const env = Object.fromEntries(names.map((name) => [name, variables[name] ?? '']));
  const digest = createHmac('sha256', await homeKey(platform.home.accounts))
    .update(JSON.stringify([preset.name, env]))
    .digest('hex');
  // Digests of different values may share a prefix; lengthen the name until it is unique.
  for (let digits = nameDigits; ; digits += nameDigits) {
    const name = `shell-${digest.slice(0, digits)}`;
    const known = await accountByName(platform.store.db, name);
    if (known === null || digits >= digest.length / 2) {
      return (
        known ??
        storeAccount(platform, preset.name, { name, email: null, baseUrl: null, keyProxy: null }, shellDraft(env))
      );
    }
    const secrets = await platform.files.readSecrets(known.id).catch(() => null);
    if (known.provider === preset.name && sameEntries(secrets, env)) return known;
  }
}

function shellDraft(env: Record<string, string>) {
  return { kind: 'shell' as const, env, fill: async () => {} };
}

function sameEntries(secrets: Record<string, string> | null, env: Record<string, string>): boolean {
  return secrets !== null && JSON.stringify(secrets) === JSON.stringify(env);
}

/** The key of this home's hashes, created on first use. */
async function homeKey(root: string): Promise<string> {
  const path = join(root, 'key');
  const known = (await readBoundedFile(path, keyBytes * 2))?.trim() ?? '';
  if (known.length === keyBytes * 2) return known;
  const key = randomBytes(keyBytes).toString('hex');
  await writePrivateFile(path, key);
  return key;
}
