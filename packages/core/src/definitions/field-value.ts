import { nameSchema } from '@pawl/schema/id';
import { definitionLimits } from './definition-limit.ts';
import type { AgentAction } from '@pawl/schema/definition';

/** A field's value is invalid. Caught by the parser, which adds file and line. */
export class WrongValue extends Error {}

const actionsByWord = new Map<string, AgentAction>([
  ['patch', 'Patch'],
  ['applypatch', 'Patch'],
  ['finalize', 'Finalize'],
  ['finalise', 'Finalize'],
  ['delegate', 'Delegate'],
  ['delegation', 'Delegate'],
  ['delegatetoagent', 'Delegate'],
  ['approve', 'Approve'],
  ['approval', 'Approve'],
]);

/** Normalises a word: `work_globs`, `workGlobs` and `Work-Globs` are equal. */
export function wordOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Quotes a foreign value for an error message. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  const { quotedCharacters } = definitionLimits;
  return text.length > quotedCharacters ? `${text.slice(0, quotedCharacters)}…` : text;
}

/** Reads text, or null for an empty value. */
export function readText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'string') throw new WrongValue(`must be text, not ${quoted(value)}; put quotes around it`);
  return value.trim() === '' ? null : value.trim();
}

/** Reads one of some choices in any spelling, or null for an empty value. */
export function readChoice<T extends string>(value: unknown, choices: readonly T[]): T | null {
  const text = readText(value);
  if (text === null) return null;
  const choice = choices.find((each) => wordOf(each) === wordOf(text));
  if (choice === undefined) throw new WrongValue(`is ${quoted(text)}, but must be ${choices.join(' or ')}`);
  return choice;
}

/** Reads a lower-case name, or null for an empty value or `inherit`. */
export function readName(value: unknown): string | null {
  const text = readInheritable(value);
  return text === null ? null : checkName(text);
}

/** Reads text; empty and `inherit` both mean the default. */
export function readInheritable(value: unknown): string | null {
  const text = readText(value);
  if (text === null || text.toLowerCase() === 'inherit') return null;
  if (/\p{Cc}/u.test(text)) throw new WrongValue(`has a control character: ${quoted(text)}`);
  return text;
}

/** Reads text, or null for `false`. */
export function readSwitchable(value: unknown): string | null {
  return value === false ? null : readText(value);
}

/** Reads a list of words: a YAML list, or one line with commas. */
export function readList(value: unknown): string[] {
  if (value === null || value === undefined) {
    throw new WrongValue('has no value; write [] for none, or leave the line out');
  }
  const entries: unknown[] = typeof value === 'string' ? splitAtCommas(value) : asArray(value);
  if (entries.length > definitionLimits.listEntries) {
    throw new WrongValue(`has more than ${definitionLimits.listEntries} entries`);
  }
  const texts = entries.map((entry) => {
    const text = readText(entry);
    if (text === null) throw new WrongValue('has an empty entry');
    if (/\p{Cc}/u.test(text)) throw new WrongValue(`has a control character: ${quoted(text)}`);
    return text;
  });
  return [...new Set(texts)];
}

/** Reads a policy in either form: a list of actions, or `allow` with `delegate_targets`. Null means not stated. */
export function readPolicy(value: unknown): { allow: AgentAction[] | null; delegateTargets: string[] | null } {
  if (value === null || value === undefined || Array.isArray(value) || typeof value === 'string') {
    return { allow: readActions(value), delegateTargets: null };
  }
  if (typeof value !== 'object') {
    throw new WrongValue(`must be a list of actions, or allow with delegate_targets, not ${quoted(value)}`);
  }
  const policy: { allow: AgentAction[] | null; delegateTargets: string[] | null } = {
    allow: null,
    delegateTargets: null,
  };
  for (const [name, part] of Object.entries(value)) {
    const word = wordOf(name);
    if (word === 'allow' && policy.allow === null) policy.allow = readActions(part);
    else if (word === 'delegatetargets' && policy.delegateTargets === null) policy.delegateTargets = readTargets(part);
    else throw new WrongValue(`has ${quoted(name)}, but may only have allow and delegate_targets, each once`);
  }
  return policy;
}

function readActions(value: unknown): AgentAction[] {
  const actions = readList(value).map((text) => {
    const action = actionsByWord.get(wordOf(text));
    if (action === undefined) throw new WrongValue(`has ${quoted(text)}, but only Patch, Finalize and Delegate exist`);
    return action;
  });
  return [...new Set(actions)];
}

function readTargets(value: unknown): string[] {
  return [...new Set(readList(value).map(checkName))];
}

/** Returns the lower-case name, or throws. */
export function checkName(text: string): string {
  const parsed = nameSchema.safeParse(text.toLowerCase());
  if (parsed.success) return parsed.data;
  throw new WrongValue(`is ${quoted(text)}, but ${parsed.error.issues[0]?.message ?? 'that is not a name'}`);
}

function asArray(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  throw new WrongValue(`must be a list, such as [Read, Grep], not ${quoted(value)}`);
}

/** A comma inside parentheses belongs to the entry: `Task(plan, search), Read` has two. */
function splitAtCommas(text: string): string[] {
  return text
    .split(/,(?![^()]*\))/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
