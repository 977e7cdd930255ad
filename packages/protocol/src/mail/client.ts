import type { FetchMailBody, MailAnswer, MailList, MailsAnswer, SendMailBody, Waited, WaitMailBody } from './view.ts';
import { segment } from '../path-segment.ts';
import type { Requests } from '../requests.ts';

export type MailQuery = { agent?: string; from?: string; unread?: boolean; limit?: number; before?: string };

/** The client for mail. */
export type MailClient = {
  sendMail(body: SendMailBody, key: string): Promise<MailsAnswer>;
  /** Reads a mailbox without changing it. */
  listMail(query?: MailQuery): Promise<MailList>;
  /** Fetches the caller's own mailbox, which delivers waiting mail. */
  fetchMail(body?: FetchMailBody): Promise<MailList>;
  waitMail(body: WaitMailBody): Promise<Waited>;
  showMail(mail: string): Promise<MailAnswer>;
  readMail(mail: string): Promise<MailAnswer>;
  ackMail(mail: string): Promise<MailAnswer>;
};

export function mailClient({ get, post }: Requests): MailClient {
  const at = (mail: string, rest = '') => `/api/mail/${segment('mail', mail)}${rest}`;
  return {
    sendMail: (body, key) => post('/api/mail', body, { key }),
    listMail: (query) => get('/api/mail', query),
    fetchMail: (body) => post('/api/mail/fetch', body),
    waitMail: (body) => post('/api/mail/wait', body),
    showMail: (mail) => get(at(mail)),
    readMail: (mail) => post(at(mail, '/read')),
    ackMail: (mail) => post(at(mail, '/ack')),
  };
}
