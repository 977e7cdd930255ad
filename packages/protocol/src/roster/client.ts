import type { RosterView, SelfView } from './view.ts';
import type { Requests } from '../requests.ts';

/** The client for processes that Pawl did not start. */
export type RosterClient = {
  roster(query?: { path?: string }): Promise<RosterView>;
  rosterSelf(process: { pid: number; start: string }): Promise<SelfView>;
};

export function rosterClient({ get, post }: Requests): RosterClient {
  return {
    roster: (query) => get('/api/roster', query),
    rosterSelf: (process) => post('/api/roster/self', process),
  };
}
