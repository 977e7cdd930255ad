import { segment } from '../path-segment.ts';
import type { Requests } from '../requests.ts';
import type { ApprovePhaseBody, CommentPhaseBody, PhaseReview, RequestChangesBody } from './review-view.ts';

type Place = { path?: string };

/** The client for reviews of phases. */
export type ReviewClient = {
  showReview(reference: string, query?: Place & { phase?: string }): Promise<PhaseReview>;
  approvePhase(reference: string, body?: ApprovePhaseBody, query?: Place): Promise<PhaseReview>;
  commentPhase(reference: string, body: CommentPhaseBody, query?: Place): Promise<PhaseReview>;
  requestChanges(reference: string, body?: RequestChangesBody, query?: Place): Promise<PhaseReview>;
  answerThread(thread: string, answer: string): Promise<PhaseReview>;
  resolveThread(thread: string): Promise<PhaseReview>;
};

export function reviewClient({ get, post }: Requests): ReviewClient {
  const at = (reference: string, rest = '') => `/api/plans/${segment('plan', reference)}/review${rest}`;
  const thread = (id: string, verb: string) => `/api/threads/${segment('thread', id)}/${verb}`;
  return {
    showReview: (reference, query) => get(at(reference), query),
    approvePhase: (reference, body = {}, query = {}) => post(at(reference, '/approve'), body, { query }),
    commentPhase: (reference, body, query = {}) => post(at(reference, '/comment'), body, { query }),
    requestChanges: (reference, body = {}, query = {}) => post(at(reference, '/changes'), body, { query }),
    answerThread: (id, answer) => post(thread(id, 'answer'), { answer }),
    resolveThread: (id) => post(thread(id, 'resolve'), {}),
  };
}
