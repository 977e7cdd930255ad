import * as z from 'zod';
import type { Entry, Standing } from './conversation.ts';
import { scenarioInKey } from './key.ts';
import { modelServerLimits } from './limit.ts';
import type { Scenario } from './step.ts';
import { stepsSchema } from './step.ts';

export type Choice = { ok: true; name: string; scenario: Scenario } | { ok: false; problem: string };

export type Choosing = {
  /** The name in the URL, if any. */
  prefix: string | null;
  key: string;
  entries: Entry[];
  standing: Standing;
  scenarios: Record<string, Scenario>;
  /** Scenarios by key. */
  keys: Map<string, string>;
  /** The default scenario. */
  fallback: string;
};

/**
 * The scenario of a request: named in its URL, in the user's latest message, for the rest of the conversation in any
 * message, by its key, or else the fallback.
 */
export function chooseScenario(choosing: Choosing): Choice {
  const { prefix, key, entries, standing, scenarios, keys, fallback } = choosing;
  if (prefix !== null) return named(prefix, scenarios);
  const inline = inlineSteps(standing.last);
  if (inline?.ok === true) return inline;
  // Some CLIs quote a prompt from their command line.
  const unquoted = inline === null ? null : inlineSteps(standing.last.replaceAll('\\"', '"'));
  if (inline !== null) return unquoted?.ok === true ? unquoted : inline;
  const asked = lastMatch(standing.last, /\[\[scenario:([\w.-]+)\]\]/g) ?? stickyIn(entries);
  if (asked !== undefined) return named(asked, scenarios);
  return named(keys.get(key) ?? scenarioInKey(key, Object.keys(scenarios)) ?? fallback, scenarios);
}

function named(name: string, scenarios: Record<string, Scenario>): Choice {
  const scenario = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined;
  if (scenario !== undefined) return { ok: true, name, scenario };
  const known = Object.keys(scenarios).join(', ');
  return { ok: false, problem: `There is no scenario ${name.slice(0, 80)}. There are: ${known}` };
}

function stickyIn(entries: Entry[]): string | undefined {
  for (const entry of entries.toReversed()) {
    if (entry.role !== 'user') continue;
    const name = lastMatch(entry.text, /\[\[session:([\w.-]+)\]\]/g);
    if (name !== undefined) return name;
  }
  return undefined;
}

function lastMatch(text: string, pattern: RegExp): string | undefined {
  return [...text.matchAll(pattern)].at(-1)?.[1];
}

const opening = '[[steps:';

/** The steps in a message's `[[steps:[…]]]`; null if it has none. */
function inlineSteps(text: string): Choice | null {
  const start = text.lastIndexOf(opening);
  if (start === -1) return null;
  const from = start + opening.length;
  const end = endOfArray(text, from);
  if (end === null || text.slice(end, end + 2) !== ']]') {
    return { ok: false, problem: 'The [[steps:…]] of the message are no JSON array that ends with ]].' };
  }
  try {
    const parsed = stepsSchema.safeParse(JSON.parse(text.slice(from, end)));
    if (parsed.success) return { ok: true, name: 'steps', scenario: { steps: parsed.data } };
    return { ok: false, problem: `The [[steps:…]] of the message are wrong: ${z.prettifyError(parsed.error)}` };
  } catch (error) {
    return { ok: false, problem: `The [[steps:…]] of the message are no JSON: ${String(error)}` };
  }
}

/** The end of the JSON array that starts at `from`, found by its brackets outside of strings. */
function endOfArray(text: string, from: number): number | null {
  let depth = 0;
  let inString = false;
  const stop = Math.min(text.length, from + modelServerLimits.inlineCharacters);
  for (let at = from; at < stop; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '[') depth += 1;
    else if (character === ']') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return null;
}
