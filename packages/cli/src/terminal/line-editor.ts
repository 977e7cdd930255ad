import { width } from '@pawl/present/text';

/** A line that a person types, with the cursor between its characters, and the lines before it. */
export type Line = {
  characters: readonly string[];
  cursor: number;
  history: readonly string[];
  /** The line of the history that is shown; its length for a new one. */
  at: number;
};

/** The meaning of a key: an edit of the line, or an action of the program. */
export type KeyEffect =
  | { kind: 'edit'; line: Line }
  | { kind: 'enter'; text: string; line: Line }
  | { kind: 'interrupt' }
  | { kind: 'leave' };

const historyLines = 200;

export function emptyLine(history: readonly string[] = []): Line {
  return { characters: [], cursor: 0, history, at: history.length };
}

export function textOf({ characters }: Line): string {
  return characters.join('');
}

/** Applies a key: a character, a pasted text, or the name of a control key. Unknown keys do nothing. */
export function pressKey(line: Line, key: Key): KeyEffect {
  if (key.kind === 'text') return edit(inserted(line, key.text));
  const { characters, cursor } = line;
  switch (key.name) {
    case 'enter':
      return { kind: 'enter', text: textOf(line), line: emptyLine(remembered(line)) };
    case 'interrupt':
      return { kind: 'interrupt' };
    case 'end-of-input':
      return characters.length === 0 ? { kind: 'leave' } : edit(cutFrom(line, cursor, cursor + 1));
    case 'backspace':
      return edit(cutFrom(line, cursor - 1, cursor));
    case 'delete':
      return edit(cutFrom(line, cursor, cursor + 1));
    case 'left':
      return edit({ ...line, cursor: Math.max(0, cursor - 1) });
    case 'right':
      return edit({ ...line, cursor: Math.min(characters.length, cursor + 1) });
    case 'home':
      return edit({ ...line, cursor: 0 });
    case 'end':
      return edit({ ...line, cursor: characters.length });
    case 'cut-before':
      return edit(cutFrom(line, 0, cursor));
    case 'cut-after':
      return edit(cutFrom(line, cursor, characters.length));
    case 'cut-word':
      return edit(cutFrom(line, wordStart(line), cursor));
    case 'up':
      return edit(recalled(line, line.at - 1));
    case 'down':
      return edit(recalled(line, line.at + 1));
    default:
      return edit(line);
  }
}

const edit = (line: Line): KeyEffect => ({ kind: 'edit', line });

function inserted(line: Line, text: string): Line {
  const added = [...segments.segment(text)].map(({ segment }) => segment);
  return {
    ...line,
    characters: line.characters.toSpliced(line.cursor, 0, ...added),
    cursor: line.cursor + added.length,
  };
}

/** Characters as a person counts them. */
const segments = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

function cutFrom(line: Line, from: number, until: number): Line {
  if (from < 0 || from >= until) return line;
  return { ...line, characters: line.characters.toSpliced(from, until - from), cursor: from };
}

function wordStart({ characters, cursor }: Line): number {
  let at = cursor;
  while (at > 0 && characters[at - 1]?.trim() === '') at--;
  while (at > 0 && characters[at - 1]?.trim() !== '') at--;
  return at;
}

function remembered(line: Line): readonly string[] {
  const text = textOf(line);
  if (text.trim() === '' || line.history.at(-1) === text) return line.history;
  return [...line.history, text].slice(-historyLines);
}

function recalled(line: Line, at: number): Line {
  if (at < 0 || at > line.history.length || at === line.at) return line;
  const text = line.history[at] ?? '';
  return { ...inserted(emptyLine(line.history), text), at };
}

/** The part of a line around its cursor that fits, and the column of the cursor in it. */
export function windowOf(line: Line, columns: number): { text: string; column: number } {
  const shown = line.characters.map(visibleCharacter);
  let from = 0;
  while (from < line.cursor && width(shown.slice(from, line.cursor).join('')) >= columns) from++;
  let until = line.cursor;
  while (until < shown.length && width(shown.slice(from, until + 1).join('')) < columns) until++;
  return {
    text: shown.slice(from, until).join(''),
    column: width(shown.slice(from, line.cursor).join('')),
  };
}

/** A pasted line break takes one column. */
function visibleCharacter(character: string): string {
  if (character === '\n' || character === '\r\n') return '⏎';
  // oxlint-disable-next-line no-control-regex -- control characters are what this replaces
  return /^[\u0000-\u001F\u007F-\u009F]/.test(character) ? ' ' : character;
}

export type Key = { kind: 'text'; text: string } | { kind: 'control'; name: string };

const controls: Record<string, string> = {
  '\r': 'enter',
  '\n': 'enter',
  '\u0001': 'home',
  '\u0003': 'interrupt',
  '\u0004': 'end-of-input',
  '\u0005': 'end',
  '\u0008': 'backspace',
  '\u000B': 'cut-after',
  '\u0015': 'cut-before',
  '\u0017': 'cut-word',
  '\u007F': 'backspace',
};

const sequences: Record<string, string> = {
  '[A': 'up',
  '[B': 'down',
  '[C': 'right',
  '[D': 'left',
  '[H': 'home',
  '[F': 'end',
  OH: 'home',
  OF: 'end',
  OA: 'up',
  OB: 'down',
  OC: 'right',
  OD: 'left',
  '[1~': 'home',
  '[3~': 'delete',
  '[4~': 'end',
  '[7~': 'home',
  '[8~': 'end',
};

const pasteStart = '[200~';
const pasteEnd = '\u001B[201~';

/** Reads keys from what a terminal sends, which may be split anywhere. A pasted text is one key. */
export function createKeyReader(): (data: Uint8Array) => Key[] {
  const decoder = new TextDecoder();
  let rest = '';
  let pasted: string | null = null;

  /** The first key of the rest, and how long it is; null if more is needed. */
  function next(): { key: Key | null; length: number } | null {
    const first = rest[0] ?? '';
    if (first !== '\u001B') {
      const name = controls[first];
      if (name !== undefined) return { key: { kind: 'control', name }, length: 1 };
      // oxlint-disable-next-line no-control-regex -- text ends before a control character
      const text = /^[^\u0000-\u001F\u007F]+/.exec(rest)?.[0];
      return text === undefined ? { key: null, length: 1 } : { key: { kind: 'text', text }, length: text.length };
    }
    // oxlint-disable-next-line no-control-regex -- these are the escape sequences themselves
    const sequence = /^\u001B(\[[0-?]*[ -/]*[@-~]|O[A-Z]|[^[O])/.exec(rest);
    if (sequence === null) return rest.length > longestSequence ? { key: null, length: 1 } : null;
    const name = sequences[sequence[1] ?? ''];
    if (sequence[1] === pasteStart) pasted = '';
    return { key: name === undefined ? null : { kind: 'control', name }, length: sequence[0].length };
  }

  function takePaste(keys: Key[]): boolean {
    const end = rest.indexOf(pasteEnd);
    const text = end === -1 ? rest.slice(0, Math.max(0, rest.length - pasteEnd.length)) : rest.slice(0, end);
    pasted = (pasted ?? '') + text;
    rest = rest.slice(end === -1 ? text.length : end + pasteEnd.length);
    if (end === -1) return false;
    if (pasted !== '') keys.push({ kind: 'text', text: pasted.replaceAll(/\r\n?/g, '\n') });
    pasted = null;
    return true;
  }

  return (data) => {
    rest += decoder.decode(data, { stream: true });
    const keys: Key[] = [];
    while (rest !== '') {
      if (pasted !== null) {
        if (!takePaste(keys)) return keys;
        continue;
      }
      const found = next();
      if (found === null) return keys;
      rest = rest.slice(found.length);
      if (found.key !== null) keys.push(found.key);
    }
    return keys;
  };
}

/** A longer start of an escape sequence is none. */
const longestSequence = 32;
