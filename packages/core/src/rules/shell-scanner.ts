import { ruleLimits } from '@pawl/schema/rule';

/** One word of a command, without its quotes. */
export type Word = {
  text: string;
  /** Positions of unquoted `*` in the text. */
  stars: number[];
  /** The shell may replace a part of it: a variable, a substitution, a pattern, a home directory. */
  expands: boolean;
};

/** Characters that stand for themselves outside quotes in every common shell. */
const plainCharacter = /[\p{L}\p{N}_\-./:,+=@%~]/u;

const operatorNames: Record<string, string> = {
  '\n': 'a line break',
  '\r': 'a line break',
  ';': '“;”',
  '&': '“&”',
  '|': 'a pipe',
  '(': 'a subshell',
  ')': 'a subshell',
  '<': 'a redirection',
  '>': 'a redirection',
};

/**
 * Reads shell text from left to right. It collects every simple command that it can find, and notes the first part that
 * is not a plain word or `&&`.
 */
export class ShellScanner {
  readonly commands: Word[][] = [];
  obstacle: string | null = null;
  broken = false;
  #at = 0;
  #words: Word[] = [];
  #word: Word | null = null;
  #dropsNext = false;
  readonly #text: string;
  readonly #depth: number;

  constructor(text: string, depth: number) {
    this.#text = text;
    this.#depth = depth;
  }

  /** Reads commands up to the end of the text, or up to the `)` that ends a substitution. */
  scanList(end: ')' | null): void {
    let joined = false;
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? '';
      if (character === end) {
        this.#at += 1;
        this.#endCommand();
        return;
      }
      if (character === ' ' || character === '\t') {
        this.#endWord();
        this.#at += 1;
      } else if (this.#text.startsWith('&&', this.#at)) {
        this.#at += 2;
        joined = this.#endCommand();
        if (!joined) this.#note('“&&” without a command before it');
      } else if (character in operatorNames) {
        this.#scanOperator(character);
      } else {
        joined = false;
        this.#scanPart();
      }
    }
    if (joined) this.#note('“&&” without a command after it');
    this.#endCommand();
    if (end !== null) this.#break('an unfinished substitution');
  }

  #scanOperator(character: string): void {
    this.#note(operatorNames[character] ?? character);
    this.#at += 1;
    if (character !== '<' && character !== '>') {
      this.#endCommand();
      return;
    }
    // The file of a redirection, and the number before it, are no words of the command.
    if (this.#word !== null && /^(\d+|\{.*)$/.test(this.#word.text)) this.#word = null;
    this.#endWord();
    while (/[<>&|-]/.test(this.#text[this.#at] ?? '')) this.#at += 1;
    this.#dropsNext = true;
  }

  /** Reads one quoted part, expansion or character of a word. */
  #scanPart(): void {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    if (character === '#' && this.#word === null) this.#note('a comment');
    if (isExpandedAt(character, this.#word?.text ?? '')) this.#expand('an expansion');
    const word = this.#openWord();
    this.#at += character.length;
    if (character === "'") this.#scanSingle(word);
    else if (character === '"') this.#scanDouble(word);
    else if (character === '\\') this.#scanEscape(word);
    else if (character === '$') this.#scanDollar();
    else if (character === '`') this.#scanBackticks();
    else if (character === '*') {
      word.stars.push(word.text.length);
      word.text += character;
    } else {
      if (!plainCharacter.test(character)) this.#expand('a pattern or an expansion');
      word.text += character;
    }
  }

  #scanSingle(word: Word): void {
    const end = this.#text.indexOf("'", this.#at);
    if (end === -1) {
      this.#break('an unfinished quote');
      word.text += this.#text.slice(this.#at);
      this.#at = this.#text.length;
      return;
    }
    const inner = this.#text.slice(this.#at, end);
    // Shells differ in whether this backslash ends the quote.
    if (inner.endsWith('\\')) this.#note('a backslash before a quote');
    word.text += inner;
    this.#at = end + 1;
  }

  #scanDouble(word: Word): void {
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? '';
      this.#at += 1;
      if (character === '"') return;
      if (character === '$') this.#scanDollar();
      else if (character === '`') this.#scanBackticks();
      else if (character === '\\' && /[$`"\\\n]/.test(this.#text[this.#at] ?? '')) this.#scanEscape(word);
      else word.text += character;
    }
    this.#break('an unfinished quote');
  }

  #scanEscape(word: Word): void {
    const next = this.#text[this.#at];
    if (next === undefined) this.#break('a backslash at the end');
    else if (next === '\n' || next === '\r') this.#note('a line break');
    else word.text += next;
    this.#at += 1;
  }

  /** Reads an expansion. Its value is unknown, and often empty: `r$@m` runs `rm`. */
  #scanDollar(): void {
    const next = this.#text[this.#at] ?? '';
    if (next === '(') {
      this.#expand('a substitution');
      this.#at += 1;
      this.#scanInner();
    } else if (next === '{') {
      this.#expand('a variable');
      this.#at += 1;
      this.#scanBraces();
    } else {
      this.#expand('a variable');
      const name = /^(?:[A-Za-z_]\w*|[0-9@*#?$!-])/.exec(this.#text.slice(this.#at, this.#at + 200));
      this.#at += name?.[0].length ?? 0;
    }
  }

  #scanInner(): void {
    if (this.#isTooDeep()) return;
    const inner = new ShellScanner(this.#text, this.#depth + 1);
    inner.#at = this.#at;
    inner.scanList(')');
    this.#at = inner.broken ? this.#text.length : inner.#at;
    this.commands.push(...inner.commands);
    if (inner.broken) this.#break('an unfinished substitution');
  }

  #scanBraces(): void {
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at];
      this.#at += 1;
      if (character === '}') return;
      if (character === '$') this.#scanDollar();
      else if (character === '`') this.#scanBackticks();
      else if (character === '\\') this.#at += 1;
    }
    this.#break('an unfinished expansion');
  }

  #scanBackticks(): void {
    this.#expand('a substitution');
    let inner = '';
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? '';
      this.#at += 1;
      if (character === '`') {
        if (this.#isTooDeep()) return;
        const nested = new ShellScanner(inner, this.#depth + 1);
        nested.scanList(null);
        this.commands.push(...nested.commands);
        if (nested.broken) this.#break('an unfinished substitution');
        return;
      }
      if (character === '\\' && /[`$\\]/.test(this.#text[this.#at] ?? '')) {
        inner += this.#text[this.#at] ?? '';
        this.#at += 1;
      } else inner += character;
    }
    this.#break('an unfinished substitution');
  }

  #isTooDeep(): boolean {
    if (this.#depth < ruleLimits.commandDepth) return false;
    this.#break('too many levels of nesting');
    this.#at = this.#text.length;
    return true;
  }

  #openWord(): Word {
    this.#word ??= { text: '', stars: [], expands: false };
    return this.#word;
  }

  #endWord(): void {
    if (this.#word === null) return;
    if (!this.#dropsNext) this.#words.push(this.#word);
    this.#dropsNext = false;
    this.#word = null;
  }

  /** True if there was a command. */
  #endCommand(): boolean {
    this.#endWord();
    this.#dropsNext = false;
    const words = this.#words;
    this.#words = [];
    if (words.length > 0) this.commands.push(words);
    return words.length > 0;
  }

  #expand(what: string): void {
    this.#note(what);
    this.#openWord().expands = true;
  }

  #note(obstacle: string): void {
    this.obstacle ??= obstacle;
  }

  #break(obstacle: string): void {
    this.#note(obstacle);
    this.broken = true;
  }
}

/** Shells expand `~` at the start of a word and after `:` and `=`; some expand `=` at the start, too. */
function isExpandedAt(character: string, before: string): boolean {
  if (character === '~') return before === '' || before.endsWith(':') || before.endsWith('=');
  return character === '=' && before === '';
}
