import { plainLine } from '../guard/foreign-lines.ts';

/** A branch in progress, or proposed. */
export type Side = {
  branch: string;
  tip: string;
  /** The agent working on it; null for a person. */
  agentId: string | null;
  /** Its purpose in words; empty if only its author's task says so. */
  purpose: string;
  /** The files it changes; null if there are too many to list. */
  files: ReadonlySet<string> | null;
};

/** The pairs of branches that may conflict: of different authors, with a file in common. */
export function pairsThatMeet<S extends Side>(sides: readonly S[]): [S, S][] {
  const pairs: [S, S][] = [];
  const ordered = sides.toSorted((one, other) => (one.branch < other.branch ? -1 : 1));
  for (const [index, one] of ordered.entries()) {
    for (const other of ordered.slice(index + 1)) {
      const isOwn = one.agentId !== null && one.agentId === other.agentId;
      if (!isOwn && one.tip !== other.tip && shareFiles(one.files, other.files)) pairs.push([one, other]);
    }
  }
  return pairs;
}

function shareFiles(one: Side['files'], other: Side['files']): boolean {
  if (one === null || other === null) return one?.size !== 0 && other?.size !== 0;
  const [fewer, more] = one.size < other.size ? [one, other] : [other, one];
  for (const file of fewer) if (more.has(file)) return true;
  return false;
}

/** Bounds of the purpose, the file list and each file name. */
const purposeCharacters = 200;
const namedFiles = 20;
const nameCharacters = 160;

/** Tells the author of a branch about another one that conflicts with it. */
export function conflictWords(
  mine: Pick<Side, 'branch'>,
  other: Pick<Side, 'branch' | 'purpose'> & { alias: string | null },
  files: readonly string[],
): string {
  const who = other.alias === null ? 'a person works on' : `${other.alias} works on`;
  const purpose = other.purpose === '' ? '' : ` (${plainLine(other.purpose, purposeCharacters)})`;
  const agree = other.alias === null ? '' : ` Agree with ${other.alias} on who changes what (\`pawl send\`).`;
  return [
    `Your branch ${mine.branch} and ${other.branch}, which ${who}${purpose}, do not go together as they are now. They conflict in:`,
    fileList(files),
    `Whichever of them is merged second has to be put right.${agree}`,
  ].join('\n');
}

/** File names, one per line. */
export function fileList(files: readonly string[]): string {
  const lines = files.slice(0, namedFiles).map((name) => `- ${plainLine(name, nameCharacters)}`);
  const rest = files.length - lines.length;
  return [...lines, ...(rest > 0 ? [`- and ${rest} more`] : [])].join('\n');
}
