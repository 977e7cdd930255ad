import { limits } from '@pawl/schema/limit';
import type { Mail } from '@pawl/schema/mail';
import { listMail } from '@pawl/store/mail/mail';
import type { Database } from '@pawl/store/tables';

/** A filter of a mailbox; `before` is the cursor of the last page. */
export type PageFilter = {
  fromId?: string | undefined;
  unread?: boolean | undefined;
  limit?: number | undefined;
  before?: string | undefined;
};

/**
 * A page of a mailbox: unread mail first, then the rest, each newest first. The cursor names its half, since mail may
 * be read, and so change halves, between pages.
 */
export async function pageOf(
  db: Database,
  toId: string,
  filter: PageFilter,
): Promise<{ mails: Mail[]; next: string | null }> {
  const limit = filter.limit ?? limits.usualMailRows;
  const sender = filter.fromId === undefined ? {} : { fromId: filter.fromId };
  const [half, before] = filter.before?.split(':') ?? [];
  const part = (unread: boolean, rows: number, cursor: string | undefined) =>
    listMail(db, { toId, ...sender, unread, limit: rows, ...(cursor === undefined ? {} : { before: cursor }) });
  const unread = half === 'rest' ? [] : await part(true, limit + 1, before);
  const left = limit + 1 - unread.length;
  const rest = filter.unread === true || left <= 0 ? [] : await part(false, left, half === 'rest' ? before : undefined);
  const mails = [...unread, ...rest];
  const last = mails.at(limit - 1);
  if (mails.length <= limit || last === undefined) return { mails, next: null };
  return { mails: mails.slice(0, limit), next: `${limit <= unread.length ? 'unread' : 'rest'}:${last.id}` };
}
