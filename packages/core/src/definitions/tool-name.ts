import { quoted, wordOf, WrongValue } from './field-value.ts';

/** The canonical tools, each with the other words that agents and models have for it. */
const canonicalTools: Record<string, string[]> = {
  Read: ['readfile', 'readfiles', 'readmanyfiles', 'view', 'viewfile', 'openfile', 'cat', 'notebookread'],
  Write: ['writefile', 'writetofile', 'createfile', 'create', 'savefile'],
  Bash: ['shell', 'sh', 'runcommand', 'runshellcommand', 'executecommand', 'exec', 'execcommand', 'localshell'].concat([
    'command',
    'terminal',
    'runterminalcmd',
    'runinterminal',
    'powershell',
  ]),
  Glob: ['find', 'findfiles', 'listfiles', 'listdirectory', 'listdir', 'ls', 'filesearch'],
  Grep: ['search', 'searchfiles', 'searchfilecontent', 'grepsearch', 'ripgrep', 'rg', 'codesearch'],
  Edit: [
    'editfile',
    'replace',
    'strreplace',
    'strreplaceeditor',
    'strreplacebasededittool',
    'searchreplace',
    'applypatch',
  ],
  MultiEdit: ['multieditfile'],
  NotebookEdit: ['editnotebook'],
  WebFetch: ['fetch', 'fetchurl', 'readurl', 'httpget'],
  WebSearch: ['googlewebsearch', 'searchweb'],
  Task: ['agent', 'subagent', 'delegate', 'delegatetoagent', 'spawnagent'],
};

const canonicalByWord = new Map(
  Object.entries(canonicalTools).flatMap(([name, words]) =>
    [wordOf(name), ...words].map((word): [string, string] => [word, name]),
  ),
);

/** One entry of a tool list: a name, `*`, or the beginning of MCP names, and what its argument is limited to. */
export type ToolEntry = { name: string; limit: string | null };

/** The one name of a tool, whatever an agent calls it. Names that nobody knows stay as they are. */
export function canonicalTool(name: string): string {
  const text = name.trim();
  if (/^mcp__/i.test(text)) return `mcp__${text.slice('mcp__'.length)}`;
  return canonicalByWord.get(wordOf(text)) ?? text;
}

/** True when both are the same tool: letter case tells no tools apart. */
function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** An entry of a list in its one spelling: `shell(git:*)` is `Bash(git:*)`, `mcp__forge` is `mcp__forge__*`. */
export function normalEntry(text: string): string {
  if (text === '*') return text;
  const parts = /^([A-Za-z][\w.:-]*\*?)(?:\((.*)\))?$/s.exec(text);
  if (parts === null) throw new WrongValue(`has ${quoted(text)}, which is no tool`);
  const [, called = '', limited] = parts;
  const name = canonicalTool(called);
  const limit = limited?.trim();
  if (called.includes('*') && !name.startsWith('mcp__')) {
    throw new WrongValue(`has ${quoted(text)}; only * alone and names that begin with mcp__ may have a *`);
  }
  if (limit === '') throw new WrongValue(`has ${quoted(text)}, which is limited to nothing`);
  const whole = /^mcp__[^*]+$/.test(name) && !name.slice('mcp__'.length).includes('__') ? `${name}__*` : name;
  // A limit that limits nothing is none.
  return limit === undefined || /^:?\*+$/.test(limit) ? whole : `${whole}(${limit})`;
}

/** A whole list in its one spelling; `*` makes every other entry needless. */
export function normalTools(entries: string[]): string[] {
  const normal = [...new Set(entries.map(normalEntry))];
  return normal.includes('*') ? ['*'] : normal;
}

/** Takes a normal entry apart. */
export function toolEntry(text: string): ToolEntry {
  const open = text.indexOf('(');
  return open === -1 ? { name: text, limit: null } : { name: text.slice(0, open), limit: text.slice(open + 1, -1) };
}

/** True when an entry's name stands for this tool, or, given another entry's name, for all that that one stands for. */
export function nameCovers(pattern: string, name: string): boolean {
  if (pattern === '*') return true;
  if (!pattern.endsWith('*')) return isSameName(pattern, name);
  return name.toLowerCase().startsWith(pattern.slice(0, -1).toLowerCase());
}
