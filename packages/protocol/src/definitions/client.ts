import type { AgentAction } from '@pawl/schema/definition';
import type { DefinitionList, GateAnswer, TrustAnswer, TrustBody, TrustList } from './view.ts';
import { segment } from '../path-segment.ts';
import type { Requests } from '../requests.ts';

/** The client for definitions, trust and tool permissions. */
export type DefinitionClient = {
  definitions(query?: { path?: string }): Promise<DefinitionList>;
  trustList(query: { path: string }): Promise<TrustList>;
  trust(body: TrustBody): Promise<TrustAnswer>;
  gate(reference: string, body: { tool?: string; input?: string; action?: AgentAction }): Promise<GateAnswer>;
};

export function definitionClient({ get, post }: Requests): DefinitionClient {
  return {
    definitions: (query) => get('/api/definitions', query),
    trustList: (query) => get('/api/trust', query),
    trust: (body) => post('/api/trust', body),
    gate: (reference, body) => post(`/api/agents/${segment('agent', reference)}/gate`, body),
  };
}
