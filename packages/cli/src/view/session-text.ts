import type { Beginning } from '@pawl/roster/anchor/begin-session';
import type { Ending } from '@pawl/roster/anchor/end-session';
import { printable, printableLine } from '@pawl/present/text';

type Company = Pick<Beginning, 'others' | 'helpers' | 'doubts'>;

/** The text for a session that begins; its first word names the case. */
export function beginningText(
  beginning: Beginning,
  { contract, isExcluded }: { contract: string; isExcluded: boolean },
): string {
  const { branch, id, file } = beginning;
  const lines: string[] = [branch];
  if (id !== null && branch !== 'isolated') lines.push(`id: ${printableLine(id)}`);
  if (file !== null) lines.push(`anchor: ${printableLine(file)}`);
  const words = exportLine(beginning);
  if (words !== null) lines.push(words);
  lines.push('', ...advice[branch], ...company(beginning));
  if (beginning.isOrphan) lines.push('You were started as a helper, but no other agent is here: all duties are yours.');
  if (!isExcluded) lines.push('Keep it out of commits: add /.pawl/session-context* to the exclude file of git.');
  if (beginning.notes !== null) lines.push('', 'What it left:', '', printable(beginning.notes).trimEnd());
  if (branch === 'helper' || branch === 'restricted') lines.push('', contract);
  return lines.join('\n');
}

const advice: Record<Beginning['branch'], string[]> = {
  isolated: ['You have a worktree of your own. There is nothing to recover, and no other agent to consider.'],
  fresh: ['Nobody was here before you. Start as usual, and keep your notes in the anchor.'],
  recover: ['The session that wrote the anchor has crashed, and its process is gone. Continue from what it left.'],
  helper: ['Somebody else is at work here. Skip the usual start: what follows is all you do instead.'],
  restricted: [
    'It is unknown which other agents are here. Do not recover, do not pull; ask if a person can answer, and work as a helper.',
  ],
};

/** The shell line that sets or clears a session's identity. */
export function exportLine({ branch, id, isOrphan }: Pick<Beginning, 'branch' | 'id' | 'isOrphan'>): string | null {
  if (isOrphan) return 'unset PAWL_AGENT_ID PAWL_HELPER AI_AGENT_ID AI_HELPER';
  const isHelper = branch === 'helper' || branch === 'restricted';
  return isHelper && id !== null ? `export ${helperVariables(id).join(' ')}` : null;
}

/** The variables that identify a helper's commands, in shell syntax. */
export function helperVariables(id: string): string[] {
  const word = `'${id.replaceAll("'", '')}'`;
  return [`PAWL_AGENT_ID=${word}`, 'PAWL_HELPER=1', `AI_AGENT_ID=${word}`, 'AI_HELPER=1'];
}

/** The text for a session that ends; its first word names the outcome. */
export function endingText(ending: Ending): string {
  const lines: string[] = [ending.outcome];
  if (ending.archived !== null) lines.push(`archive: ${printableLine(ending.archived)}`);
  lines.push('', ...ending.duties.map((duty) => `- ${printableLine(duty)}`), ...company(ending));
  return lines.join('\n').trimEnd();
}

function company({ others, helpers, doubts }: Company): string[] {
  const named = (live: boolean) => helpers.filter((each) => each.live === live).map(({ file }) => printableLine(file));
  const [live, stale] = [named(true), named(false)];
  return [
    ...others.map(({ pid, cwd, provider }) => `here: ${provider} ${pid}\t${printableLine(cwd)}`),
    ...doubts.map((doubt) => `not seen: ${printableLine(doubt)}`),
    ...live.map((file) => `helper at work: ${file} (what it has changed is not yours to undo)`),
    ...stale.map((file) => `helper gone: ${file}`),
  ];
}
