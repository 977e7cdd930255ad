import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AccountFiles } from './account-files.ts';
import { accountLimits } from './account-limit.ts';
import { readBoundedFile } from './private-file.ts';

/** Files that CLIs keep logins in, such as `.credentials.json` and `auth.json`, and settings, which may hold keys too. */
const loginFile = /(?:cred|auth|token|secret|key|settings|config|models|^\.claude).*\.(?:json|toml|ya?ml)$|^\.env/i;
const secretField = /token|key|secret|password/i;

/** `NAME=value`, `name = "value"` or `name: value`, as such files have it. */
const namedValue = /^[ \t]*(?:export[ \t]+)?([\w.-]{1,100})[ \t]*[=:][ \t]*["']?([!-~]{1,4096}?)["']?[ \t]*$/gm;

/** Shorter values of such fields are no secrets, but words like `Bearer`. */
const secretCharacters = 16;

/** Everything of an account that must not stand in the output of a session that uses it. */
export async function accountSecrets(files: AccountFiles, id: string): Promise<string[]> {
  const own = await files.secretsToMask(id);
  // Some are a whole login as JSON.
  const within = own.flatMap(secretsIn);
  return [...new Set([...own, ...within, ...(await loginSecrets(files.directory(id)))])];
}

/** The secrets in the login files of a config directory, whatever CLI it belongs to, as far as they can be told. */
async function loginSecrets(directory: string): Promise<string[]> {
  const secrets: string[] = [];
  for (const path of (await loginFiles(directory)).slice(0, accountLimits.loginFiles)) {
    secrets.push(...secretsIn((await readBoundedFile(path, accountLimits.secretFileBytes)) ?? ''));
  }
  return secrets;
}

/** Some CLIs keep them in a directory of theirs below the one that they are given, such as `.gemini`. */
async function loginFiles(directory: string, deep = true): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const own = entries.filter((entry) => entry.isFile() && loginFile.test(entry.name));
  const below = entries.filter((entry) => deep && entry.isDirectory() && entry.name.startsWith('.'));
  const others = await Promise.all(below.map((entry) => loginFiles(join(directory, entry.name), false)));
  return [...own.map((entry) => join(directory, entry.name)), ...others.flat()];
}

/** The secrets in a text that is JSON, or has a name and a value in each line, by the names of their fields. */
function secretsIn(text: string): string[] {
  const secrets: string[] = [];
  try {
    JSON.parse(text, (name, value: unknown) => {
      if (typeof value === 'string' && value.length >= secretCharacters && secretField.test(name)) secrets.push(value);
      return value;
    });
  } catch {
    for (const [, name = '', value = ''] of text.matchAll(namedValue))
      if (value.length >= secretCharacters && secretField.test(name)) secrets.push(value);
  }
  return secrets;
}
