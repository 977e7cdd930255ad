import { visible } from '@pawl/present/text';
import type { ChangeDiff } from '@pawl/protocol/changes/view';
import { useMemo, useState } from 'react';
import { Button, Empty } from '../parts/basic.tsx';
import { line } from '../parts/foreign-text.tsx';
import type { DiffLine, FileDiff } from './diff-lines.ts';
import { readPatch } from './diff-lines.ts';

/** Files with more lines than this are folded, and show this many at first. */
const shownLines = 600;
const lineCharacters = 2_000;

/** A diff by file. Control and hidden characters are written out, since a reader must see them. */
export function DiffView({ diff }: { diff: ChangeDiff }) {
  const files = useMemo(() => readPatch(diff.patch), [diff.patch]);
  if (diff.files.length === 0) return <Empty>This change has no differences to the target branch.</Empty>;
  return (
    <div className="flex flex-col gap-3 p-3">
      {diff.truncated && (
        <p className="text-sm text-attention">The diff is long; the end of it is left out. See it with git.</p>
      )}
      {diff.files.map((file) => (
        <FileView
          key={file.path}
          file={files.find(({ path }) => path === file.path) ?? { path: file.path, lines: [] }}
          added={file.added}
          removed={file.removed}
          from={file.from}
        />
      ))}
    </div>
  );
}

type FileProps = { file: FileDiff; added: number | null; removed: number | null; from: string | null };

function FileView({ file, added, removed, from }: FileProps) {
  const [whole, setWhole] = useState(false);
  const lines = whole ? file.lines : file.lines.slice(0, shownLines);
  return (
    <details open={file.lines.length <= shownLines} className="overflow-hidden rounded-md border border-line">
      <summary className="flex gap-3 bg-raised px-3 py-1.5 font-mono text-sm">
        <span className="min-w-0 truncate">
          {from !== null && <span className="text-muted">{line(visible(from))} → </span>}
          {line(visible(file.path))}
        </span>
        <span className="ml-auto whitespace-nowrap">
          {added === null ? (
            <span className="text-muted">binary</span>
          ) : (
            <>
              <span className="text-good">+{added}</span> <span className="text-bad">−{removed}</span>
            </>
          )}
        </span>
      </summary>
      <div className="overflow-x-auto">
        <table className="w-full border-collapse font-mono text-xs leading-5">
          <tbody>
            {lines.map((each, index) => (
              // Lines of a patch never change their order.
              // oxlint-disable-next-line react/no-array-index-key
              <Row key={index} row={each} />
            ))}
          </tbody>
        </table>
      </div>
      {lines.length < file.lines.length && (
        <div className="p-2">
          <Button onClick={() => setWhole(true)}>Show {file.lines.length - lines.length} more lines</Button>
        </div>
      )}
    </details>
  );
}

const rowLook: Record<DiffLine['kind'], string> = {
  added: 'bg-good/10',
  removed: 'bg-bad/10',
  same: '',
  hunk: 'bg-raised text-muted',
  note: 'text-muted italic',
};
const sign: Record<DiffLine['kind'], string> = { added: '+', removed: '−', same: ' ', hunk: ' ', note: ' ' };

function Row({ row }: { row: DiffLine }) {
  const text = visible(row.text);
  return (
    <tr className={rowLook[row.kind]}>
      <td className="min-w-10 px-1.5 text-right text-muted select-none">{row.old}</td>
      <td className="min-w-10 px-1.5 text-right text-muted select-none">{row.new}</td>
      <td className="w-4 text-center select-none">{sign[row.kind]}</td>
      <td className="w-full pr-3 whitespace-pre">
        {text.length > lineCharacters ? `${text.slice(0, lineCharacters)}… (${text.length} characters)` : text}
      </td>
    </tr>
  );
}
