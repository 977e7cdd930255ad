import { deniesCommand, findCommands, whyNeverAllowed } from '../rules/command-rule.ts';
import { parseCommand } from '../rules/shell-words.ts';

/**
 * The part in parentheses of `Bash(git:*)`: a prefix of the allowed arguments, or one exact argument.
 *   git:*      whole words: `git`, `git log`, not `gitk`
 *   src/*      characters: everything that begins with `src/`
 *   npm test   exactly this
 */
type Limit = { text: string; form: 'words' | 'letters' | 'exact' };

/** Characters that let a path or an address escape its prefix. */
const notPlain = /[;&|<>`\n\r\0]|\$[({]|(^|\/)\.\.(\/|$)/;

/** True if an argument lies within a limit. Unless the limit is exact, only plain text does. */
export function limitAllows(limitText: string, argument: string): boolean {
  const limit = parseLimit(limitText);
  const text = argument.trim();
  if (limit.form === 'exact') return text === limit.text;
  return !notPlain.test(text) && beginsWith(limit, text);
}

/** The same for a command, which is compared word by word as a shell splits it. */
export function limitAllowsCommand(limitText: string, command: string): boolean {
  const { text, form } = parseLimit(limitText);
  if (form === 'exact') return command.trim() === text;
  const { commands, obstacle } = parseCommand(command);
  const [words = [], ...others] = commands;
  const limit = parseCommand(text).commands[0]?.map((word) => word.text) ?? [];
  if (obstacle !== null || others.length > 0 || limit.length === 0 || whyNeverAllowed(words) !== null) return false;
  return limit.every((word, index) => {
    const given = words[index]?.text;
    const isOpen = form === 'letters' && index === limit.length - 1 && !text.endsWith(' ');
    return isOpen ? (given?.startsWith(word) ?? false) : given === word;
  });
}

/**
 * True if a denied limit may match: its words occur anywhere in the argument. A shell can hide a word in many ways, so
 * this only prevents accidents; to really deny a command, deny the shell.
 */
export function limitMayDeny(limitText: string, argument: string): boolean {
  const { text, form } = parseLimit(limitText);
  for (let at = argument.indexOf(text); at !== -1; at = argument.indexOf(text, at + 1)) {
    const around = [argument[at - 1] ?? ' ', argument[at + text.length] ?? ' '];
    if (form !== 'words' || around.every((letter) => !/\w/.test(letter))) return true;
  }
  return false;
}

/** The same for a command: also if its words are quoted in part, or have options between them. */
export function limitMayDenyCommand(limitText: string, command: string): boolean {
  if (limitMayDeny(limitText, command)) return true;
  const { text, form } = parseLimit(limitText);
  const words = parseCommand(text).commands[0] ?? [];
  return form !== 'letters' && deniesCommand(words, findCommands(command));
}

/** True if the outer limit allows everything that the inner one allows. `allows` compares one argument. */
export function limitCovers(outerText: string, innerText: string, allows = limitAllows): boolean {
  const outer = parseLimit(outerText);
  const inner = parseLimit(innerText);
  if (outer.form === inner.form && outer.text === inner.text) return true;
  if (outer.form === 'exact') return false;
  if (inner.form === 'exact') return allows(outerText, inner.text);
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
