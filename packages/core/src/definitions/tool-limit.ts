/**
 * The part in parentheses of `Bash(git:*)`: a prefix of the allowed arguments, or one exact argument.
 *   git:*      whole words: `git`, `git log`, not `gitk`
 *   src/*      characters: everything that begins with `src/`
 *   npm test   exactly this
 */
type Limit = { text: string; form: 'words' | 'letters' | 'exact' };

/** Characters that chain another shell command, or let a path escape its prefix. */
const notPlain = /[;&|<>`\n\r\0]|\$[({]|(^|\/)\.\.(\/|$)/;

/** True if an argument lies within a limit. Unless the limit is exact, only plain text does. */
export function limitAllows(limitText: string, argument: string): boolean {
  const limit = parseLimit(limitText);
  const text = argument.trim();
  if (limit.form === 'exact') return text === limit.text;
  return !notPlain.test(text) && beginsWith(limit, text);
}

/**
 * True if a denied limit may match: its words occur anywhere in the argument. A shell can hide a word in many ways, so
 * this only prevents accidents; to really deny a command, deny the shell.
 */
export function limitMayDeny(limitText: string, argument: string): boolean {
  const { text, form } = parseLimit(limitText);
  const start = argument.indexOf(text);
  if (start === -1) return false;
  if (form !== 'words') return true;
  for (let at = start; at !== -1; at = argument.indexOf(text, at + 1)) {
    const around = [argument[at - 1] ?? ' ', argument[at + text.length] ?? ' '];
    if (around.every((letter) => !/\w/.test(letter))) return true;
  }
  return false;
}

/** True if the outer limit allows everything that the inner one allows. */
export function limitCovers(outerText: string, innerText: string): boolean {
  const outer = parseLimit(outerText);
  const inner = parseLimit(innerText);
  if (outer.form === inner.form && outer.text === inner.text) return true;
  if (outer.form === 'exact') return false;
  if (inner.form === 'exact') return limitAllows(outerText, inner.text);
  // `git*` also matches `gitk`, so characters lie within words only from the next word on.
  return outer.form === 'words' && inner.form === 'letters'
    ? inner.text.startsWith(`${outer.text} `)
    : beginsWith(outer, inner.text);
}

function beginsWith({ text: beginning, form }: Limit, text: string): boolean {
  if (form === 'letters') return text.startsWith(beginning);
  return text === beginning || text.startsWith(`${beginning} `);
}

function parseLimit(text: string): Limit {
  const [, words] = /^([^*]+):\*$/s.exec(text) ?? [];
  if (words !== undefined) return { text: words, form: 'words' };
  const [, letters] = /^([^*]+)\*{1,2}$/s.exec(text) ?? [];
  if (letters !== undefined) return { text: letters, form: 'letters' };
  return { text, form: 'exact' };
}
