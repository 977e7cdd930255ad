import { plainLine } from '../guard/foreign-lines.ts';

/** A branch at work, or proposed. */
export type Side = {
  branch: string;
  tip: string;
  /** Who works on it; null for a person. */
  agentId: string | null;
  /** What it is for, in words; empty when only its author's task says so. */
  purpose: string;
  /** What it changes; null when that is too much to be listed. */
  files: ReadonlySet<string> | null;
};

/** The pairs of branches that may be in each other's way: of two authors, and with a file in common. */
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

/** How much is said of what a branch is for, how many files are named, and how much of each name. */
const purposeCharacters = 200;
const namedFiles = 20;
const nameCharacters = 160;

/** What the author of a branch is told about another one that conflicts with it. */
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

/** Names of files, one in each line. */
export function fileList(files: readonly string[]): string {
  const lines = files.slice(0, namedFiles).map((name) => `- ${plainLine(name, nameCharacters)}`);
  const rest = files.length - lines.length;
  return [...lines, ...(rest > 0 ? [`- and ${rest} more`] : [])].join('\n');
}
