import type { Other } from '../roster.ts';
import { archiveAnchor } from './archive.ts';
import type { SessionSite } from './begin-session.ts';
import { isIsolated } from './begin-session.ts';
import type { HelperFile } from './helper-file.ts';
import { helperFiles, identify } from './helper-file.ts';
import type { Survey } from './survey.ts';

/** A person's choices when the primary session of a project ends while others continue. */
export const helperChoices = ['commit', 'wait', 'leave'] as const;
export type HelperChoice = (typeof helperChoices)[number];

/**
 * How a session ends.
 *   isolated                           nothing is shared, so there is nothing to settle
 *   helper, others live or unknown ──▶ helped: its anchor is archived, and nothing else
 *   helper, alone by now ────────────▶ closed: it has all duties, including git
 *   primary, nobody else ────────────▶ closed
 *   primary, others live or unknown ─▶ asked ─▶ commit: closed · wait: waiting · leave: left
 */
export type Ending = {
  outcome: 'isolated' | 'helped' | 'closed' | 'asked' | 'waiting' | 'left';
  role: 'primary' | 'helper' | 'isolated';
  /** The archived anchor. */
  archived: string | null;
  duties: string[];
  others: Other[];
  helpers: HelperFile[];
  doubts: string[];
};

/** Ends a session: archives its anchor if allowed, and returns what is left to do. Never calls git. */
export function endSession(
  place: SessionSite,
  look: () => Survey,
  request: { description: string | null; onHelpers: HelperChoice | null; now: Date },
): Ending {
  const none = { archived: null, duties: [], others: [], helpers: [], doubts: [] };
  if (isIsolated(place)) return { ...none, outcome: 'isolated', role: 'isolated' };
  const survey = look();
  const { root, environment } = place;
  const { id, isHelper } = identify(root, environment, survey);
  const { description, onHelpers, now } = request;
  const archive = () => archiveAnchor(root, { id, description, now });
  const role = isHelper ? ('helper' as const) : ('primary' as const);
  const about = { ...none, role, others: survey.others, helpers: helperFiles(root, id, survey), doubts: survey.doubts };
  const isAlone = survey.standing === 'alone';
  if (role === 'helper' && !isAlone)
    return { ...about, outcome: 'helped', archived: archive(), duties: [...helperDuties] };
  if (isAlone) return { ...about, outcome: 'closed', archived: archive(), duties: closingDuties(role, about.helpers) };
  switch (onHelpers) {
    case null:
      return { ...about, outcome: 'asked' };
    case 'wait':
      return { ...about, outcome: 'waiting', duties: ['Wait until the others have left, then end the session again.'] };
    case 'leave':
      return { ...about, outcome: 'left', archived: archive(), duties: [...leavingDuties] };
    case 'commit':
      return { ...about, outcome: 'closed', archived: archive(), duties: commitDuties(about.helpers) };
  }
}

const helperDuties = [
  'Others are still at work: do not tidy up shared files, and do not commit, push or pull.',
  'What has to be done yet, tell the primary in one short note.',
] as const;

const leavingDuties = [
  'Do not commit and do not tidy up: the last one who is at work here does both at its end.',
] as const;

const closing = [
  'Tidy up what is shared: file-wide passes, the inbox, the index of the memory. Keep a copy of a file before each pass over it.',
  'Commit what belongs together, with messages that say why, and push it.',
];

function closingDuties(role: 'primary' | 'helper', helpers: HelperFile[]): string[] {
  const heir = 'Nobody else is at work here any more: the duties of the primary are yours now, git too.';
  return [...(role === 'helper' ? [heir] : []), ...leftovers(helpers), ...closing];
}

function commitDuties(helpers: HelperFile[]): string[] {
  const files = helpers.filter(({ live }) => live).map(({ file }) => file);
  const where = files.length === 0 ? '' : ` (their notes: ${files.join(', ')})`;
  return [
    `Others are still at work${where}: no file-wide passes. Read a file again right before you change it.`,
    'Commit what is yours first, and what they have begun in a commit of its own that says so. Push both.',
    ...leftovers(helpers),
  ];
}

function leftovers(helpers: HelperFile[]): string[] {
  const files = helpers.filter(({ live }) => !live).map(({ file }) => file);
  if (files.length === 0) return [];
  return [`Helpers that are gone left notes. Settle what they had begun, and archive them: ${files.join(', ')}`];
}
