import { segment } from '../path-segment.ts';
import type { Requests } from '../requests.ts';
import type { AddRuleBody, RuleAnswer, RuleList } from './view.ts';

/** The client for rules. */
export type RuleClient = {
  listRules(query?: { path?: string }): Promise<RuleList>;
  addRule(body: AddRuleBody): Promise<RuleAnswer>;
  revokeRule(rule: string): Promise<RuleAnswer>;
};

export function ruleClient({ get, post }: Requests): RuleClient {
  return {
    listRules: (query) => get('/api/rules', query),
    addRule: (body) => post('/api/rules', body),
    revokeRule: (rule) => post(`/api/rules/${segment('rule', rule)}/revoke`),
  };
}
