import type {
  CompleteAnswer,
  CompleteBody,
  ForkBody,
  KillAnswer,
  ReplyBody,
  ResumeBody,
  TellAnswer,
  WorkAnswer,
  WorkBody,
} from './verb-view.ts';
import type { AgentAnswer, AgentList, AgentsAnswer, Inspection } from './view.ts';
import { segment } from '../path-segment.ts';
import type { Requests } from '../requests.ts';

export type ListQuery = { project?: string; limit?: number; all?: boolean; reaped?: boolean; before?: string };

/** The client for agents. An agent is named by its id or alias. */
export type AgentClient = {
  listAgents(query?: ListQuery): Promise<AgentList>;
  work(body: WorkBody, key: string): Promise<WorkAnswer>;
  /** Without the worktree it only reads the database; with it, git compares files. */
  inspectAgent(reference: string, query?: { worktree?: boolean }): Promise<Inspection>;
  fork(reference: string, body: ForkBody, key: string): Promise<AgentAnswer>;
  stopAgent(reference: string): Promise<AgentAnswer>;
  stopAll(): Promise<AgentsAnswer>;
  resumeAgent(reference: string, body: ResumeBody, key: string): Promise<AgentAnswer>;
  tellAgent(reference: string, body: { message: string }, key: string): Promise<TellAnswer>;
  replyAgent(reference: string, body: ReplyBody, key: string): Promise<AgentAnswer>;
  signalAgent(reference: string, verb: 'pause' | 'continue' | 'interrupt' | 'reap'): Promise<AgentAnswer>;
  killAgent(reference: string, body: { cascade?: boolean }): Promise<KillAnswer>;
  completeAgent(reference: string, body: CompleteBody): Promise<CompleteAnswer>;
};

export function agentClient({ get, post }: Requests): AgentClient {
  const at = (reference: string, rest = '') => `/api/agents/${segment('agent', reference)}${rest}`;
  return {
    listAgents: (query) => get('/api/agents', query),
    work: (body, key) => post('/api/agents', body, { key }),
    inspectAgent: (reference, query) => get(at(reference), query),
    fork: (reference, body, key) => post(at(reference, '/fork'), body, { key, waits: true }),
    stopAgent: (reference) => post(at(reference, '/stop'), {}, { waits: true }),
    stopAll: () => post('/api/stop-all', {}, { waits: true }),
    resumeAgent: (reference, body, key) => post(at(reference, '/resume'), body, { key }),
    tellAgent: (reference, body, key) => post(at(reference, '/tell'), body, { key, waits: true }),
    replyAgent: (reference, body, key) => post(at(reference, '/reply'), body, { key }),
    signalAgent: (reference, verb) => post(at(reference, `/${verb}`)),
    killAgent: (reference, body) => post(at(reference, '/kill'), body, { waits: true }),
    completeAgent: (reference, body) => post(at(reference, '/complete'), body),
  };
}
