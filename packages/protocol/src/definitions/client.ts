import type { AgentAction } from '@pawl/schema/definition';
import type {
  DefinitionList,
  GateAnswer,
  LockAnswer,
  LockBody,
  LockList,
  TrustAnswer,
  TrustBody,
  TrustList,
  UnlockAnswer,
} from './view.ts';
import { segment } from '../path-segment.ts';
import type { Requests } from '../requests.ts';

/** The client for definitions, trust and tool permissions. */
export type DefinitionClient = {
  definitions(query?: { path?: string }): Promise<DefinitionList>;
  trustList(query: { path: string }): Promise<TrustList>;
  trust(body: TrustBody): Promise<TrustAnswer>;
  lockPaths(reference: string, body: LockBody): Promise<LockAnswer>;
  listLocks(reference: string): Promise<LockList>;
  unlockPaths(reference: string, lock: string): Promise<UnlockAnswer>;
  gate(reference: string, body: { tool?: string; input?: string; action?: AgentAction }): Promise<GateAnswer>;
};

export function definitionClient({ get, post }: Requests): DefinitionClient {
  return {
    definitions: (query) => get('/api/definitions', query),
    trustList: (query) => get('/api/trust', query),
    trust: (body) => post('/api/trust', body),
    lockPaths: (reference, body) => post(`/api/agents/${segment('agent', reference)}/locks`, body),
    listLocks: (reference) => get(`/api/agents/${segment('agent', reference)}/locks`),
    unlockPaths: (reference, lock) =>
      post(`/api/agents/${segment('agent', reference)}/locks/${segment('lock', lock)}/release`, {}),
    gate: (reference, body) => post(`/api/agents/${segment('agent', reference)}/gate`, body),
  };
}
