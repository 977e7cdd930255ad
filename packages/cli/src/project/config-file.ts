import { hasErrno, messageOf, PawlError } from '@pawl/schema/error';
import { homeConfigLimits } from '@pawl/schema/home-config';
import { homeConfigKeys, homeConfigProblem } from '@pawl/schema/home-config-keys';
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { statSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Document } from 'yaml';
import { isMap, parse, parseDocument } from 'yaml';

/** Loads the home's `config.yaml` for editing, keeping comments and order; a missing file is empty. */
export function readConfigDocument(path: string): Document {
  const text = textOf(path);
  if (text.length > homeConfigLimits.characters)
    throw new PawlError('invalid_input', `${path} has more than ${homeConfigLimits.characters} characters.`);
  const document: Document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) {
    throw new PawlError('invalid_input', `${path} is not YAML: ${error.message}`, { hint: 'Fix it by hand.' });
  }
  if (document.contents === null) document.contents = document.createNode({});
  if (isMap(document.contents)) return document;
  throw new PawlError('invalid_input', `${path} is not a list of keys and values.`, { hint: 'Fix it by hand.' });
}

/** The settings of a config, as plain values. */
export function valuesOf(document: Document): unknown {
  return document.toJS({ maxAliasCount: homeConfigLimits.aliases }) as unknown;
}

/** Sets a key. Refuses unknown keys and invalid values. */
export function setKey(document: Document, key: string, text: string): void {
  checkKey(key);
  document.setIn(key.split('.'), valueFrom(text));
}

/** Removes a key, and parents that become empty; false if it was not set. */
export function unsetKey(document: Document, key: string): boolean {
  const path = key.split('.');
  if (!document.hasIn(path)) return false;
  document.deleteIn(path);
  for (let above = path.slice(0, -1); above.length > 0; above = above.slice(0, -1)) {
    const node = document.getIn(above);
    if (isMap(node) && node.items.length === 0) document.deleteIn(above);
  }
  return true;
}

/** Writes a config atomically. Refuses an invalid one, and leaves the file unchanged. */
export function writeConfigDocument(path: string, document: Document): void {
  const problem = homeConfigProblem(valuesOf(document));
  if (problem !== null)
    throw new PawlError('invalid_input', `config.yaml would be invalid: ${problem}`, {
      hint: 'Nothing was changed. `pawl config ls` shows the keys and their values.',
    });
  const isEmpty = isMap(document.contents) && document.contents.items.length === 0;
  const text = isEmpty ? commentsOf(document) : document.toString();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Keep a link into the user's dotfiles as a link.
  const place = realPlace(path);
  const draft = `${place}.${process.pid}.tmp`;
  const mode = statSync(place, { throwIfNoEntry: false })?.mode ?? 0o600;
  try {
    const file = openSync(draft, 'wx', mode & 0o777);
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, place);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Refuses an unknown key, and suggests a similar one. */
export function checkKey(key: string): void {
  const keys = homeConfigKeys();
  // Below a key with user-defined parts, such as `providers`, every part is allowed; the schema validates the value.
  if (keys.some((known) => key === known || key.startsWith(`${known}.`) || known.startsWith(`${key}.`))) return;
  const near = nearest(key, keys);
  throw new PawlError('invalid_input', `There is no key ${JSON.stringify(key.slice(0, 80))} in config.yaml.`, {
    hint: `${near === null ? '' : `Did you mean ${near}? `}\`pawl config ls\` shows all keys.`,
  });
}

/** Parses a value as YAML: `true`, `5`, `[claude, codex]`, or words. */
function valueFrom(text: string): unknown {
  try {
    return parse(text) as unknown;
  } catch (error) {
    throw new PawlError('invalid_input', `The value is not YAML: ${messageOf(error)}`, {
      hint: 'Put quotes around it.',
      cause: error,
    });
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return '';
    throw error;
  }
}

function realPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return path;
    throw error;
  }
}

function commentsOf(document: Document): string {
  const comments = [document.commentBefore, document.comment].filter((text) => text !== null && text !== undefined);
  return comments.map((text) => `${text.replaceAll(/^/gm, '#')}\n`).join('');
}

/** The most similar known key, if it is close enough to be a typo. */
function nearest(key: string, keys: readonly string[]): string | null {
  const far = Math.max(2, Math.floor(key.length / 3));
  const ranked = keys.map((known) => ({ known, edits: editsBetween(key, known) }));
  const [best] = ranked.toSorted((a, b) => a.edits - b.edits);
  return best !== undefined && best.edits <= far ? best.known : null;
}

function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= Math.min(a.length, 80); i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, change));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
