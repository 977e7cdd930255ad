import type { HistoryPage } from './view.ts';
import { segment } from '../../path-segment.ts';
import type { Requests } from '../../requests.ts';

/** The client for an agent’s history. */
export type HistoryClient = {
  history(reference: string, query?: { after?: number; limit?: number; all?: boolean }): Promise<HistoryPage>;
  note(reference: string, verb: 'clear' | 'mark' | 'rewind', body: { label?: string }): Promise<{ messageId: number }>;
};

export function historyClient({ get, post }: Requests): HistoryClient {
  return {
    history: (reference, query) => get(`/api/agents/${segment('agent', reference)}/history`, query),
    note: (reference, verb, body) => post(`/api/agents/${segment('agent', reference)}/${verb}`, body),
  };
}
