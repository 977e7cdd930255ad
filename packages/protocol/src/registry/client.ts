import type { Selection, SwitchBody } from './view.ts';
import type { Requests } from '../requests.ts';

/** The client for the agent that a person acts as. */
export type SelectionClient = {
  selection(): Promise<Selection>;
  switchAgent(body: SwitchBody): Promise<Selection>;
};

export function selectionClient({ get, post }: Requests): SelectionClient {
  return {
    selection: () => get('/api/desk'),
    switchAgent: (body) => post('/api/desk', body),
  };
}
