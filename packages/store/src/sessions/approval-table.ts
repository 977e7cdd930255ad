import type { Approval } from '@pawl/schema/approval/approval';
import type { Integer, NullableInteger, Ordinal } from '../column.ts';

export type ApprovalTable = {
  ordinal: Ordinal;
  id: string;
  project_id: string | null;
  agent_id: string;
  session_id: string | null;
  provider: string | null;
  native_id: string;
  kind: Approval['kind'];
  tool: string;
  title: string;
  detail: string;
  cwd: string | null;
  owner: string | null;
  asked_at: Integer;
  referred_at: NullableInteger;
  deadline_at: NullableInteger;
  closed_at: NullableInteger;
  end: Approval['end'];
  closed_by: string | null;
  decision: Approval['decision'];
  reason: string | null;
  sent_at: NullableInteger;
};
