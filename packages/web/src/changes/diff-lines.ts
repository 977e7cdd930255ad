export type DiffLine = {
  kind: 'added' | 'removed' | 'same' | 'hunk' | 'note';
  text: string;
  old: number | null;
  new: number | null;
};
export type FileDiff = { path: string; lines: DiffLine[] };

const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** Reads a patch of git: its files, each with numbered lines. Lines that belong to no file are left out. */
export function readPatch(patch: string): FileDiff[] {
  const files: FileDiff[] = [];
  let current: FileDiff | null = null;
  let [old, fresh] = [0, 0];
  let isInHunk = false;
  for (const text of patch.split('\n')) {
    if (text.startsWith('diff --git ')) {
      current = { path: pathOf(text), lines: [] };
      files.push(current);
      isInHunk = false;
      continue;
    }
    if (current === null) continue;
    const start = hunk.exec(text);
    if (start !== null) {
      [old, fresh] = [Number(start[1]), Number(start[2])];
      isInHunk = true;
      current.lines.push({ kind: 'hunk', text, old: null, new: null });
    } else if (!isInHunk) {
      if (/^(?:\+\+\+|---|index|similarity)/.test(text)) continue;
      if (text !== '') current.lines.push({ kind: 'note', text, old: null, new: null });
    } else if (text.startsWith('+'))
      current.lines.push({ kind: 'added', text: text.slice(1), old: null, new: fresh++ });
    else if (text.startsWith('-')) current.lines.push({ kind: 'removed', text: text.slice(1), old: old++, new: null });
    else if (text.startsWith(' ')) current.lines.push({ kind: 'same', text: text.slice(1), old: old++, new: fresh++ });
    else if (text.startsWith('\\')) current.lines.push({ kind: 'note', text: text.slice(2), old: null, new: null });
  }
  return files;
}

/** The second path of `diff --git a/… b/…`. */
function pathOf(header: string): string {
  const rest = header.slice('diff --git '.length);
  const at = rest.lastIndexOf(' b/');
  return at === -1
    ? (rest.split(' ').at(-1) ?? rest).replaceAll('"', '').replace(/^b\//, '')
    : rest.slice(at + 3).replace(/"$/, '');
}
