/** One file of a patch. */
export type PatchFile = {
  path: string;
  /** Its previous path; equals `path` unless it was renamed. */
  from: string;
  isNew: boolean;
  isDeleted: boolean;
  isBinary: boolean;
  /** With line numbers in the new file. */
  added: { line: number; text: string }[];
  removed: string[];
};

/**
 * Parses a patch as git prints it. Reads hunks by the line counts in their headers, so that no file content is taken
 * for patch syntax.
 */
export function parsePatch(patch: string): PatchFile[] {
  const lines = patch.split('\n');
  const files: PatchFile[] = [];
  let file: PatchFile | null = null;
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    at += 1;
    if (line.startsWith('diff --git ')) {
      const name = nameInHead(line.slice('diff --git '.length));
      file = { path: name, from: name, isNew: false, isDeleted: false, isBinary: false, added: [], removed: [] };
      files.push(file);
    } else if (file !== null && line.startsWith('@@ ')) {
      at = readHunk(lines, at, line, file);
    } else if (file !== null) {
      readHead(line, file);
    }
  }
  return files;
}

function readHead(line: string, file: PatchFile): void {
  if (line.startsWith('new file mode ')) file.isNew = true;
  else if (line.startsWith('deleted file mode ')) file.isDeleted = true;
  else if (line.startsWith('rename from ')) file.from = nameOf(line.slice('rename from '.length));
  else if (line.startsWith('rename to ')) file.path = nameOf(line.slice('rename to '.length));
  else if (line.startsWith('Binary files ')) file.isBinary = true;
  else if (line.startsWith('--- ') && line !== '--- /dev/null') file.from = withoutSide(line.slice(4));
  else if (line.startsWith('+++ ') && line !== '+++ /dev/null') file.path = withoutSide(line.slice(4));
}

/** Reads one hunk; returns the index of the line after it. */
function readHunk(lines: readonly string[], start: number, head: string, file: PatchFile): number {
  const [, before = '1', first = '0', after = '1'] = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(head) ?? [];
  let left = Number(before);
  let right = Number(after);
  let number = Number(first);
  let at = start;
  for (; at < lines.length && (left > 0 || right > 0); at += 1) {
    const line = lines[at] ?? '';
    const text = line.slice(1);
    if (line.startsWith('+')) {
      file.added.push({ line: number, text });
      number += 1;
      right -= 1;
    } else if (line.startsWith('-')) {
      file.removed.push(text);
      left -= 1;
    } else if (!line.startsWith('\\')) {
      number += 1;
      left -= 1;
      right -= 1;
    }
  }
  return at;
}

/** If nothing else names the file (mode change, or empty), both names in the header are equal. */
function nameInHead(names: string): string {
  if (names.startsWith('"')) return withoutSide(/^"(?:[^"\\]|\\.)*"/.exec(names)?.[0] ?? names);
  return names.slice('a/'.length, (names.length - 1) / 2);
}

function withoutSide(name: string): string {
  return nameOf(name).replace(/^[ab]\//, '');
}

const escaped: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Unquotes a name as git writes it: a trailing tab if it has spaces, quotes and escapes if it is unusual. */
function nameOf(written: string): string {
  const name = written.replace(/\t$/, '');
  if (!name.startsWith('"')) return name;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const [part, code] of name.slice(1, -1).matchAll(/\\([0-7]{3}|.)|[^\\]+/gs)) {
    if (code === undefined) bytes.push(...encoder.encode(part));
    else if (code.length === 3) bytes.push(Number.parseInt(code, 8));
    else bytes.push(escaped[code] ?? code.charCodeAt(0));
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}
