import type { Initiative, Proposal } from '@pawl/schema/plan/plan';
import type { Task } from '@pawl/schema/record';
import type { Integer, Json, NullableInteger, Ordinal } from '../column.ts';

export type TaskTable = {
  ordinal: Ordinal;
  id: string;
  project_id: string;
  phase: string;
  name: string;
  description: string;
  depends_on: Json;
  created_by: string | null;
  created_at: Integer;
  summary: string | null;
  finished_at: NullableInteger;
  completed_at: NullableInteger;
  blocked_reason: string | null;
  crashes: Integer;
  agent_id: string | null;
  definition: string | null;
  initiative_id: string | null;
  phase_id: string | null;
  priority: Task['priority'];
  files: Json;
  if_failed: Json;
  found_while: string | null;
  failed_at: NullableInteger;
  cancelled_at: NullableInteger;
  revises: string | null;
};

export type InitiativeTable = {
  ordinal: Ordinal;
  id: string;
  project_id: string;
  name: string;
  mode: Initiative['mode'];
  budget: Json;
  created_by: string | null;
  created_at: Integer;
  approved_version: NullableInteger;
  approved_at: NullableInteger;
  launch: Json | null;
  launched_at: NullableInteger;
  paused_at: NullableInteger;
  archived_at: NullableInteger;
  branch: string | null;
};

export type PageTable = {
  ordinal: Ordinal;
  id: string;
  initiative_id: string;
  parent_id: string | null;
  title: string;
  text: string;
};

export type DecisionTable = {
  ordinal: Ordinal;
  id: string;
  initiative_id: string;
  topic: string;
  decision: string;
  text: string;
};

export type PhaseTable = {
  ordinal: Ordinal;
  id: string;
  initiative_id: string;
  name: string;
  text: string;
  files: Json;
  depends_on: Json;
  is_integration: Integer;
  approved_at: NullableInteger;
  reviewed: Json | null;
};

export type PlanVersionTable = {
  initiative_id: string;
  number: Integer;
  hash: string;
  task_ids: Json;
  created_at: Integer;
  created_by: string;
};

export type ProposalTable = {
  ordinal: Ordinal;
  id: string;
  project_id: string;
  initiative_id: string | null;
  agent_id: string | null;
  mode: Proposal['mode'];
  summary: string;
  items: Json;
  complaints: Json;
  created_at: Integer;
  accepted_at: NullableInteger;
  undo: Json | null;
  dismissed_at: NullableInteger;
  dismiss_reason: string | null;
  reverted_at: NullableInteger;
  decided_by: string | null;
};

/** The initiative, and the phase, that a planning agent works for. */
export type PlanAgentTable = {
  agent_id: string;
  initiative_id: string;
  phase_id: string | null;
};

export type ReviewThreadTable = {
  ordinal: Ordinal;
  id: string;
  initiative_id: string;
  phase_id: string;
  anchor: Json | null;
  body: string;
  created_at: Integer;
  revision_id: string | null;
  answer: string | null;
  answered_at: NullableInteger;
  answered_by: string | null;
  resolved_at: NullableInteger;
};

/** The commits by which a task's work came to the branch of its plan; written before the branch moves. */
export type TaskLandingTable = {
  task_id: string;
  from_commit: string;
  to_commit: string;
};
