import type {
  Answered,
  ApprovalAnswer,
  ApprovalList,
  AskBody,
  DecisionBody,
  Inbox,
  PermissionAnswer,
  PermissionBody,
  QuestionAnswer,
  QuestionList,
  QuestionView,
} from './view.ts';
import { segment } from '../path-segment.ts';
import type { Requests } from '../requests.ts';
import { dataOf } from '../requests.ts';

/** The client for questions, permissions and a person’s inbox. */
export type QuestionClient = {
  ask(body: AskBody, key: string): Promise<QuestionAnswer>;
  showQuestion(question: string): Promise<QuestionAnswer>;
  /** Waits for the end of a question, and yields it once. */
  followQuestion(question: string, signal?: AbortSignal): AsyncGenerator<QuestionView>;
  answer(question: string, body: { answer: string }): Promise<Answered>;
  /** Records that the asker was shown the answer, so that it is not sent by mail. */
  noteShown(question: string): Promise<QuestionAnswer>;
  openQuestions(reference: string): Promise<QuestionList>;
  /** Waits for a question to an agent, yields one, and ends. */
  listen(reference: string, signal?: AbortSignal): AsyncGenerator<QuestionView>;
  inbox(): Promise<Inbox>;
  showApproval(approval: string): Promise<ApprovalAnswer>;
  listApprovals(): Promise<ApprovalList>;
  /** Decides a request of an agent below the caller; a person may decide all. */
  decideApproval(approval: string, body: DecisionBody): Promise<ApprovalAnswer>;
  askPermission(body: PermissionBody, key: string): Promise<PermissionAnswer>;
};

export function questionClient({ get, post, stream }: Requests): QuestionClient {
  const at = (question: string, rest = '') => `/api/questions/${segment('question', question)}${rest}`;
  const ofAgent = (reference: string) => `/api/agents/${segment('agent', reference)}/questions`;
  return {
    ask: (body, key) => post('/api/questions', body, { key }),
    showQuestion: (question) => get(at(question)),
    followQuestion: (question, signal) => dataOf(stream(at(question), { signal }), 'ended'),
    answer: (question, body) => post(at(question, '/answer'), body),
    noteShown: (question) => post(at(question, '/shown')),
    openQuestions: (reference) => get(ofAgent(reference)),
    listen: (reference, signal) => dataOf(stream(ofAgent(reference), { signal }), 'question'),
    inbox: () => get('/api/inbox'),
    showApproval: (approval) => get(`/api/approvals/${segment('approval', approval)}`),
    listApprovals: () => get('/api/approvals'),
    decideApproval: (approval, body) => post(`/api/approvals/${segment('approval', approval)}/decision`, body),
    askPermission: (body, key) => post('/api/permissions', body, { key, waits: true }),
  };
}
