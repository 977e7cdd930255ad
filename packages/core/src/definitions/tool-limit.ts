/**
 * What stands in the parentheses of `Bash(git:*)`. It is the beginning of the arguments that are meant, or all of one:
 *
 *   git:*      the word, alone or before others: `git`, `git log`, not `gitk`
 *   src/*      the letters: everything that begins with `src/`
 *   npm test   exactly this
 */
type Limit = { text: string; form: 'words' | 'letters' | 'exact' };

/** What lets one shell command bring along another, and one path lead out of where it begins. */
const notPlain = /[;&|<>`\n\r\0]|\$[({]|(^|\/)\.\.(\/|$)/;

/** True when an argument lies within a limit. Only plain text does, unless the limit names it letter by letter. */
export function limitAllows(limitText: string, argument: string): boolean {
  const limit = parseLimit(limitText);
  const text = argument.trim();
  if (limit.form === 'exact') return text === limit.text;
  return !notPlain.test(text) && beginsWith(limit, text);
}

/**
 * True when a denied limit may be meant by an argument: its words stand somewhere in it. A shell has many ways to hide a
 * word, so this stops accidents; whoever must not run a command must not have the shell.
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

/** True when everything that the inner limit allows is also allowed by the outer one. */
export function limitCovers(outerText: string, innerText: string): boolean {
  const outer = parseLimit(outerText);
  const inner = parseLimit(innerText);
  if (outer.form === inner.form && outer.text === inner.text) return true;
  if (outer.form === 'exact') return false;
  if (inner.form === 'exact') return limitAllows(outerText, inner.text);
  // `git*` also begins `gitk`, so letters lie within words only from the next word on.
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
