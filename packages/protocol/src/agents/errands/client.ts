import type { ErrandAbandoned, ErrandDiff, ErrandList, ErrandMergeBody, ErrandMerged, ErrandSent } from './view.ts';
import { segment } from '../../path-segment.ts';
import type { Requests } from '../../requests.ts';

/** The client for errands. */
export type ErrandClient = {
  listErrands(query?: { all?: boolean }): Promise<ErrandList>;
  sendErrand(reference: string, body: { message: string }, key: string): Promise<ErrandSent>;
  diffErrand(reference: string): Promise<ErrandDiff>;
  mergeErrand(reference: string, body: ErrandMergeBody): Promise<ErrandMerged>;
  abandonErrand(reference: string): Promise<ErrandAbandoned>;
};

export function errandClient({ get, post }: Requests): ErrandClient {
  const at = (reference: string, verb: string) => `/api/errands/${segment('agent', reference)}/${verb}`;
  return {
    listErrands: (query) => get('/api/errands', query),
    sendErrand: (reference, body, key) => post(at(reference, 'send'), body, { key, waits: true }),
    diffErrand: (reference) => get(at(reference, 'diff')),
    mergeErrand: (reference, body) => post(at(reference, 'merge'), body, { waits: true }),
    abandonErrand: (reference) => post(at(reference, 'abandon'), {}, { waits: true }),
  };
}
