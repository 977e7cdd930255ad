import { count } from '@pawl/present/amount';
import { printableLine, visible } from '@pawl/present/text';

/** The changes of a branch: its files, and the patch. */
export type Diff = {
  files: { path: string; from: string | null; added: number | null; removed: number | null }[];
  patch: string;
  truncated: boolean;
};

/** Renders a diff: the patch, or only the line counts per file. */
export function diffText(diff: Diff, options: { stat?: boolean }): string {
  const shown = options.stat ? statOf(diff) : visible(diff.patch).trimEnd();
  return diff.truncated ? `${shown}\n(the rest is left out; look at it with git)` : shown;
}

function statOf({ files }: Diff): string {
  const lines = files.map(({ path, from, added, removed }) => {
    const name = printableLine(from === null ? path : `${from} → ${path}`);
    return added === null ? `${name}  binary` : `${name}  +${added} -${removed ?? 0}`;
  });
  return [...lines, count(files.length, 'file')].join('\n');
}
