import type { InboxItem } from '@pawl/protocol/questions/view';
import type { ReplyBody } from '@pawl/protocol/agents/verb-view';

export type Choice = { label: string; does: string; body: ReplyBody };

/** How the page names each option of `pawl reply`, and what it sends. */
const known: Record<string, { label: string; body: ReplyBody }> = {
  '--allow': { label: 'Allow once', body: { allow: true } },
  '--session': { label: 'Allow for this session', body: { allow: true, again: 'session' } },
  '--agent': { label: 'Allow for this agent', body: { allow: true, again: 'agent' } },
  '--always': { label: 'Always in this project', body: { allow: true, again: 'project' } },
};

/** The ways to allow a permission, narrowest first. An option that is not known here is left to the command line. */
export function allowances({ choices }: Pick<InboxItem, 'choices'>): Choice[] {
  return choices.flatMap(({ option, does }) => {
    const found = known[option];
    return found === undefined ? [] : [{ ...found, does }];
  });
}

/** The refusal of a permission; the model learns the reason. */
export function refusal(reason: string): ReplyBody {
  const why = reason.trim();
  return why === '' ? { allow: false } : { allow: false, answer: why };
}

/** The answers to an item's questions; null while one is missing. */
export function answersOf(
  { kind, questions }: Pick<InboxItem, 'kind' | 'questions'>,
  texts: Record<string, string>,
): ReplyBody | null {
  const given = questions.map(({ id }) => [id, (texts[id] ?? '').trim()] as const);
  if (given.some(([, text]) => text === '')) return null;
  return kind === 'questions' ? { answers: Object.fromEntries(given) } : { answer: given[0]?.[1] ?? '' };
}
