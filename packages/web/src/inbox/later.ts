import type { InboxEntry } from '@pawl/protocol/questions/view';

/** Entries that this browser puts aside, by name, and until when. */
export type Later = Record<string, number>;

export const laterMs = 60 * 60_000;
const storageName = 'pawl-later';

/** The same entry again, if it comes anew, has another time. */
export const nameOf = ({ kind, id, since }: Pick<InboxEntry, 'kind' | 'id' | 'since'>) => `${kind}:${id}:${since}`;

export function splitLater(
  entries: InboxEntry[],
  later: Later,
  now: number,
): { now: InboxEntry[]; later: InboxEntry[] } {
  const isLater = (entry: InboxEntry) => (later[nameOf(entry)] ?? 0) > now;
  return { now: entries.filter((entry) => !isLater(entry)), later: entries.filter(isLater) };
}

/** Reads what was put aside, and forgets what is over. */
export function readLater(text: string | null, now: number): Later {
  try {
    const known: unknown = JSON.parse(text ?? '{}');
    if (typeof known !== 'object' || known === null) return {};
    return Object.fromEntries(
      Object.entries(known).filter(
        (entry): entry is [string, number] => typeof entry[1] === 'number' && entry[1] > now,
      ),
    );
  } catch {
    return {};
  }
}

export const storedLater = () => readLater(localStorage.getItem(storageName), Date.now());
export const storeLater = (later: Later) => localStorage.setItem(storageName, JSON.stringify(later));
