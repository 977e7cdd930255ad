import type { Requests } from '../requests.ts';
import type { RevokedWebSessions, WebCode, WebKey, WebSessionList } from './view.ts';

/** The client for sessions of browsers. */
export type WebClient = {
  webCode(): Promise<WebCode>;
  openWebSession(code: string): Promise<WebKey>;
  webSessions(): Promise<WebSessionList>;
  /** Without an id: all. */
  revokeWebSessions(id?: string): Promise<RevokedWebSessions>;
};

export function webClient({ get, post }: Requests): WebClient {
  return {
    webCode: () => post('/api/web/code'),
    openWebSession: (code) => post('/api/web/session', { code }),
    webSessions: () => get('/api/web/sessions'),
    revokeWebSessions: (id) => post('/api/web/sessions/revoke', id === undefined ? {} : { id }),
  };
}
