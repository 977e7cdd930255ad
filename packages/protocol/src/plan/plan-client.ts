import { segment } from '../path-segment.ts';
import type { Requests } from '../requests.ts';
import type {
  ApprovePlanBody,
  EditPlanBody,
  LaunchPlanBody,
  NewPlanBody,
  PlanDetail,
  PlanLanding,
  PlanList,
  RevertPlanBody,
} from './plan-view.ts';

type Place = { path?: string };

/** The client for plans. */
export type PlanClient = {
  newPlan(body: NewPlanBody): Promise<PlanDetail>;
  listPlans(query?: Place & { all?: boolean }): Promise<PlanList>;
  showPlan(reference: string, query?: Place): Promise<PlanDetail>;
  editPlan(reference: string, body: EditPlanBody, query?: Place): Promise<PlanDetail>;
  landPlan(reference: string, query?: Place): Promise<PlanLanding>;
  revertPlan(reference: string, body?: RevertPlanBody, query?: Place): Promise<PlanLanding>;
  changePlan(
    reference: string,
    verb: 'approve' | 'launch' | 'pause' | 'resume' | 'archive',
    body?: ApprovePlanBody & LaunchPlanBody,
    query?: Place,
  ): Promise<PlanDetail>;
};

export function planClient({ get, post }: Requests): PlanClient {
  const at = (reference: string, rest = '') => `/api/plans/${segment('plan', reference)}${rest}`;
  return {
    newPlan: (body) => post('/api/plans', body),
    listPlans: (query) => get('/api/plans', query),
    showPlan: (reference, query) => get(at(reference), query),
    editPlan: (reference, body, query = {}) => post(at(reference, '/edit'), body, { query }),
    landPlan: (reference, query = {}) => post(at(reference, '/land'), {}, { query }),
    revertPlan: (reference, body = {}, query = {}) => post(at(reference, '/revert'), body, { query }),
    changePlan: (reference, verb, body = {}, query = {}) => post(at(reference, `/${verb}`), body, { query }),
  };
}
