import type { Desk, SwitchBody } from './view.ts';
import type { Requests } from '../requests.ts';

/** The client for the agent that a person acts as. */
export type DeskClient = {
  desk(): Promise<Desk>;
  switchDesk(body: SwitchBody): Promise<Desk>;
};

export function deskClient({ get, post }: Requests): DeskClient {
  return {
    desk: () => get('/api/desk'),
    switchDesk: (body) => post('/api/desk', body),
  };
}
