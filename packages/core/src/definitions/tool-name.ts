import { quoted, wordOf, WrongValue } from './field-value.ts';

/** The canonical tools, each with its synonyms in other CLIs. */
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

/** One entry of a tool list: a name, `*`, or a prefix of MCP names, and the limit on its argument. */
export type ToolEntry = { name: string; limit: string | null };

/** Maps any name of a tool to its canonical one. Unknown names stay as they are. */
export function canonicalTool(name: string): string {
  const text = name.trim();
  if (/^mcp__/i.test(text)) return `mcp__${text.slice('mcp__'.length)}`;
  return canonicalByWord.get(wordOf(text)) ?? text;
}

/** Compares tool names; case does not matter. */
function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Normalises an entry: `shell(git:*)` becomes `Bash(git:*)`, `mcp__forge` becomes `mcp__forge__*`. */
export function normalEntry(text: string): string {
  if (text === '*') return text;
  const parts = /^([A-Za-z][\w.:-]*\*?)(?:\((.*)\))?$/s.exec(text);
  if (parts === null) throw new WrongValue(`has ${quoted(text)}, which is not a tool`);
  const [, called = '', limited] = parts;
  const name = canonicalTool(called);
  const limit = limited?.trim();
  if (called.includes('*') && !name.startsWith('mcp__')) {
    throw new WrongValue(`has ${quoted(text)}; only * alone and names that begin with mcp__ may have a *`);
  }
  if (limit === '') throw new WrongValue(`has ${quoted(text)}, whose limit is empty`);
  const whole = /^mcp__[^*]+$/.test(name) && !name.slice('mcp__'.length).includes('__') ? `${name}__*` : name;
  // A limit that allows everything is no limit.
  return limit === undefined || /^:?\*+$/.test(limit) ? whole : `${whole}(${limit})`;
}

/** Normalises a list; `*` makes all other entries redundant. */
export function normalTools(entries: string[]): string[] {
  const normal = [...new Set(entries.map(normalEntry))];
  return normal.includes('*') ? ['*'] : normal;
}

/** Splits a normalised entry. */
export function toolEntry(text: string): ToolEntry {
  const open = text.indexOf('(');
  return open === -1 ? { name: text, limit: null } : { name: text.slice(0, open), limit: text.slice(open + 1, -1) };
}

/** True if an entry's name matches this tool, or covers another entry's name. */
export function nameCovers(pattern: string, name: string): boolean {
  if (pattern === '*') return true;
  if (!pattern.endsWith('*')) return isSameName(pattern, name);
  return name.toLowerCase().startsWith(pattern.slice(0, -1).toLowerCase());
}
