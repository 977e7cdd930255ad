import type { Language } from './test-files.ts';

const hashed: ReadonlySet<Language> = new Set(['python', 'ruby', 'elixir', 'shell']);
/** Languages in which a single quote starts a string, not a character or a lifetime. */
const singleQuoted: ReadonlySet<Language> = new Set(['script', 'python', 'php', 'ruby', 'shell']);
/** Text before a slash that starts a regular expression. */
const beforeRegex = /[(,=:[!&|?{};+\n>]\s*$|\b(?:return|typeof|case|in|of)\s*$|^\s*$/;

/**
 * Replaces comments and string contents by blanks, so that no word in them is taken for code. All other characters keep
 * their position. Tolerant: an unterminated string ends with its line.
 */
export function codeOnly(text: string, language: Language): string {
  const pieces: string[] = [];
  let kept = 0;
  const blank = (from: number, to: number) => {
    pieces.push(text.slice(kept, from), text.slice(from, to).replaceAll(/[^\n]/g, ' '));
    kept = to;
  };
  for (let at = nextSign(text, 0); at < text.length;) {
    const comment = commentEnd(text, at, language);
    if (comment !== null) blank(at, comment);
    const string = comment === null ? stringEnd(text, at, language) : null;
    if (string !== null) blank(at + 1, Math.max(at + 1, string - 1));
    at = nextSign(text, comment ?? string ?? at + 1);
  }
  pieces.push(text.slice(kept));
  return pieces.join('');
}

/** The next position where a comment or a string may start. */
function nextSign(text: string, from: number): number {
  const signs = /["'`/#]/g;
  signs.lastIndex = from;
  return signs.exec(text)?.index ?? text.length;
}

/** The end of the comment that starts here, or null. */
function commentEnd(text: string, at: number, language: Language): number | null {
  const sign = text[at];
  if (hashed.has(language)) {
    const isComment = sign === '#' && (language !== 'shell' || at === 0 || /\s/.test(text[at - 1] ?? ''));
    return isComment ? lineEnd(text, at) : null;
  }
  if (sign !== '/') return null;
  if (text[at + 1] === '/') return lineEnd(text, at);
  return text[at + 1] === '*' ? endOf(text, '*/', at + 2) : null;
}

/** The end of the string or regular expression that starts here, or null. */
function stringEnd(text: string, at: number, language: Language): number | null {
  const sign = text[at];
  if (sign === '/' && language === 'script') return regexEnd(text, at);
  if (sign === '`' && (language === 'script' || language === 'go')) return quoteEnd(text, at, '`', true);
  if (sign !== '"' && sign !== "'") return null;
  const triple = sign.repeat(3);
  if (language !== 'shell' && text.startsWith(triple, at)) return endOf(text, triple, at + 3);
  if (sign === '"' || singleQuoted.has(language)) return quoteEnd(text, at, sign, language === 'shell');
  return /^'(?:\\.|[^'\\\n]){1,4}'/.test(text.slice(at, at + 7)) ? quoteEnd(text, at, sign, false) : null;
}

function quoteEnd(text: string, start: number, quote: string, mayBreak: boolean): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === quote) return at + 1;
    else if (text[at] === '\n' && !mayBreak) return at;
  }
  return text.length;
}

function regexEnd(text: string, start: number): number | null {
  if (!beforeRegex.test(text.slice(Math.max(0, start - 20), start))) return null;
  let isClass = false;
  for (let at = start + 1; at < text.length && text[at] !== '\n'; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '[') isClass = true;
    else if (text[at] === ']') isClass = false;
    else if (text[at] === '/' && !isClass) return at + 1;
  }
  return null;
}

function lineEnd(text: string, at: number): number {
  return endOf(text, '\n', at) - (text.includes('\n', at) ? 1 : 0);
}

function endOf(text: string, word: string, from: number): number {
  const found = text.indexOf(word, from);
  return found === -1 ? text.length : found + word.length;
}

const closing: Record<string, string> = { '(': ')', '{': '}', '[': ']' };

/** Bounds the work on a file full of open brackets. */
const blockCharacters = 20_000;

/** The position after the closing bracket, in text from `codeOnly`; a bounded distance away if it never closes. */
export function bracketEnd(code: string, at: number): number {
  const open = code[at] ?? '';
  const close = closing[open];
  const end = Math.min(code.length, at + blockCharacters);
  let depth = 0;
  for (let place = at; place < end; place += 1) {
    if (code[place] === open) depth += 1;
    else if (code[place] === close && (depth -= 1) === 0) return place + 1;
  }
  return end;
}
