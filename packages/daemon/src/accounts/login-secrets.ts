import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isOrdinary, isSecretName, secretCharacters } from './secret-names.ts';
import { accountLimits } from './account-limit.ts';

/**
 * Files in which CLIs store logins, such as `.credentials.json` and `auth.json`, and settings, which may contain keys.
 */
const loginFile = /(?:cred|auth|token|secret|key|settings|config|models|^\.claude).*\.(?:json|toml|ya?ml)$|^\.env/i;

/** `NAME=value`, `name = "value"` or `name: value`. */
const namedValue = /^[ \t]*(?:export[ \t]+)?([\w.-]{1,100})[ \t]*[=:][ \t]*["']?([!-~]{1,4096}?)["']?[ \t]*$/gm;

/** Finds the secrets of the home's accounts for any CLI. */
export type SecretFinder = {
  of(accountId: string): string[];
  all(): string[];
};

/** Searches below one directory. Rereads only changed files, since a CLI may renew its login at any time. */
export function createSecretFinder(root: string): SecretFinder {
  const files = remembering((path) => secretsIn(readBounded(path)));
  const listings = remembering(list);

  /** Some CLIs keep logins in a subdirectory, such as `.gemini`. */
  function loginFiles(directory: string, deep = true): string[] {
    const entries = listings(directory) ?? [];
    const own = entries.filter((entry) => !entry.isDirectory && loginFile.test(entry.name));
    const below = entries.filter((entry) => deep && entry.isDirectory && entry.name.startsWith('.'));
    return [
      ...own.map(({ name }) => join(directory, name)),
      ...below.flatMap(({ name }) => loginFiles(join(directory, name), false)),
    ];
  }

  function secretsOf(id: string): string[] {
    const place = join(root, id);
    const logins = loginFiles(join(place, 'directory')).slice(0, accountLimits.loginFiles);
    return [...ownSecrets(join(place, 'secret.json')), ...logins.flatMap((path) => files(path) ?? [])];
  }

  const ownSecrets = (path: string) => own(path) ?? [];
  const own = remembering((path) => {
    const values = valuesOf(readBounded(path));
    // Some values are a whole login as JSON.
    return [...values.filter((value) => !isOrdinary(value)), ...values.flatMap(secretsIn)];
  });

  return {
    of: (id) => [...new Set(secretsOf(id))],
    all: () => [...new Set((listings(root) ?? []).flatMap(({ name }) => secretsOf(name)))],
  };
}

/** Caches a lookup by path until the file changes; null if there is none. */
function remembering<Found>(look: (path: string) => Found): (path: string) => Found | null {
  const known = new Map<string, { version: string; found: Found }>();
  return (path) => {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) {
      known.delete(path);
      return null;
    }
    const version = [stat.dev, stat.ino, stat.mtimeNs, stat.ctimeNs, stat.size].join(':');
    const before = known.get(path);
    if (before?.version === version) return before.found;
    const found = look(path);
    known.set(path, { version, found });
    return found;
  };
}

function list(directory: string): { name: string; isDirectory: boolean }[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() || entry.isDirectory())
      .map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }));
  } catch {
    return [];
  }
}

/** A file's text; empty if it is too long, not a plain file, or unreadable. */
function readBounded(path: string): string {
  let file;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    return stat.isFile() && stat.size <= accountLimits.secretFileBytes ? readFileSync(file, 'utf8') : '';
  } catch {
    return '';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The values in an account's `secret.json`, even if the account may no longer be used. */
function valuesOf(text: string): string[] {
  try {
    const { env } = JSON.parse(text) as { env?: unknown };
    return Object.values(env ?? {}).filter((value) => typeof value === 'string');
  } catch {
    return [];
  }
}

/** The secrets in a text that is JSON or has a name and value per line, by field name. */
function secretsIn(text: string): string[] {
  const secrets: string[] = [];
  try {
    JSON.parse(text, (name, value: unknown) => {
      if (typeof value === 'string' && value.length >= secretCharacters && isSecretName(name)) secrets.push(value);
      return value;
    });
  } catch {
    for (const [, name = '', value = ''] of text.matchAll(namedValue))
      if (value.length >= secretCharacters && isSecretName(name)) secrets.push(value);
  }
  return secrets;
}
