import { segment } from '../path-segment.ts';
import type { Requests } from '../requests.ts';
import type { ProposalAnswer, ProposalList } from './proposal-view.ts';

/** The client for proposals. */
export type ProposalClient = {
  listProposals(query?: { path?: string; all?: boolean }): Promise<ProposalList>;
  showProposal(reference: string): Promise<ProposalAnswer>;
  decideProposal(
    reference: string,
    verb: 'accept' | 'dismiss' | 'revert',
    body?: { items?: string[]; reason?: string },
  ): Promise<ProposalAnswer>;
};

export function proposalClient({ get, post }: Requests): ProposalClient {
  const at = (reference: string, rest = '') => `/api/proposals/${segment('proposal', reference)}${rest}`;
  return {
    listProposals: (query) => get('/api/proposals', query),
    showProposal: (reference) => get(at(reference)),
    decideProposal: (reference, verb, body = {}) => post(at(reference, `/${verb}`), body),
  };
}
