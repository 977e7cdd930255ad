import { ruleLimits } from '@pawl/schema/rule';
import { baseName, isAssignment, isReservedWord, isRunner } from './runners.ts';
import type { Word } from './shell-scanner.ts';
import { parseCommand } from './shell-words.ts';

/** A word of a rule: text, and the positions of its wildcards. */
export type WordPattern = Pick<Word, 'text' | 'stars'>;

/**
 * True if an allow rule covers a simple command: each word equals the rule's, or a wildcard stands for it. A last `*`
 * stands for one or more words.
 */
export function allowsCommand(pattern: readonly WordPattern[], words: readonly Word[]): boolean {
  if (isRunner(words) && pattern.some(({ stars }) => stars.length > 0)) return false;
  const last = pattern.at(-1);
  const isOpen = last !== undefined && isLoneStar(last);
  if (isOpen ? words.length < pattern.length : words.length !== pattern.length) return false;
  return words.every((word, index) => {
    const one = pattern[Math.min(index, pattern.length - 1)];
    return one !== undefined && matchesWord(one, word);
  });
}

function matchesWord(pattern: WordPattern, word: Word): boolean {
  if (word.expands || word.stars.length > 0) return false;
  if (pattern.stars.length === 0) return word.text === pattern.text;
  return isPlainValue(word.text) && matchesStars(pattern, word.text);
}

/**
 * True for a word that a wildcard may stand for. An option, an assignment or a path out of the directory could change
 * what the command does, so a rule must name those.
 */
function isPlainValue(text: string): boolean {
  return text !== '' && !/^[-+/~]|=|(^|\/)\.\.(\/|$)|:\//.test(text);
}

/** Why no allow rule can ever cover this command; null if one can. */
export function whyNeverAllowed(words: readonly Word[]): string | null {
  const [name] = words;
  if (name === undefined || name.text === '') return 'no command';
  if (isAssignment(name.text)) return 'a variable that is set before the command';
  if (isReservedWord(name.text)) return `the shell’s word “${name.text}”`;
  return words.some((word) => word.expands || word.stars.length > 0) ? 'a pattern or an expansion' : null;
}

/** A command that a text may run, in lower case. `anywhere`: it may begin at any of the words. */
type Candidate = { texts: string[]; anywhere: boolean };

/**
 * All commands that a text may run, as far as it can be read: also inside pipes, substitutions, subshells and the
 * scripts of shells.
 */
export function findCommands(text: string, depth = 0): Candidate[] {
  const { commands, broken } = parseCommand(text, depth);
  const found = commands.flatMap((words) => candidates(words, depth));
  return broken ? [...found, { texts: looseWords(text), anywhere: true }] : found;
}

function candidates(words: readonly Word[], depth: number): Candidate[] {
  const start = words.findIndex(({ text }) => !isAssignment(text) && !isReservedWord(text));
  if (start === -1) return [];
  const own = words.slice(start, start + ruleLimits.commandWords);
  const texts = own.map(({ text }) => text.toLowerCase());
  if (!isRunner(own)) return [{ texts, anywhere: false }];
  const scripts = own.slice(1).filter(({ text }) => depth < ruleLimits.commandDepth && /[^\w./:@%+,-]/.test(text));
  return [{ texts, anywhere: true }, ...scripts.flatMap(({ text }) => findCommands(text, depth + 1))];
}

/** True if a deny rule covers one of the commands: by any path to the program, with any words in between. */
export function deniesCommand(pattern: readonly WordPattern[], found: readonly Candidate[]): boolean {
  const [name, ...others] = pattern.map((one) => ({ ...one, text: one.text.toLowerCase() }));
  if (name === undefined) return false;
  const program = baseName(name.text);
  const needed = others.filter((one) => !isLoneStar(one));
  return found.some(({ texts, anywhere }) => {
    // A match after a later start is also a match after the first one.
    const start = texts.findIndex((text) => baseName(text) === program);
    if (start === -1 || (start > 0 && !anywhere)) return false;
    let at = 0;
    for (const text of texts.slice(start + 1)) {
      const next = needed[at];
      if (next === undefined) break;
      if (matchesStars(next, text)) at += 1;
    }
    return at === needed.length;
  });
}

/** Words of a text that is no complete command. */
function looseWords(text: string): string[] {
  return text
    .slice(0, ruleLimits.commandCharacters)
    .toLowerCase()
    .split(/[\s;&|<>()`$"'\\{}]+/)
    .slice(0, ruleLimits.commandWords);
}

export function isLoneStar({ text, stars }: WordPattern): boolean {
  return text === '*' && stars.length === 1;
}

/** Matches a word with wildcards, each for any characters, in linear time per wildcard. */
function matchesStars({ text, stars }: WordPattern, word: string): boolean {
  if (stars.length === 0) return word === text;
  const parts: string[] = [];
  let from = 0;
  for (const star of stars) {
    parts.push(text.slice(from, star));
    from = star + 1;
  }
  const [first = '', ...middle] = parts;
  const last = text.slice(from);
  if (word.length < first.length + last.length || !word.startsWith(first) || !word.endsWith(last)) return false;
  let at = first.length;
  const end = word.length - last.length;
  for (const part of middle) {
    const found = word.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
