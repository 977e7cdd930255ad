import type { ChangeComment, Check } from '@pawl/schema/change';
import type { Integer, Json, NullableInteger, Ordinal } from '../column.ts';

export type ChangeTable = {
  ordinal: Ordinal;
  id: string;
  project_id: string;
  agent_id: string | null;
  task_id: string | null;
  branch: string;
  head: string;
  base: string;
  title: string;
  summary: string;
  opened_at: Integer;
  queued_at: NullableInteger;
  retried_at: NullableInteger;
  isolated_at: NullableInteger;
  hold: Json | null;
  findings: Json;
  approved_head: string | null;
  ejection: Json | null;
  examined_head: string | null;
  reviewed_head: string | null;
  reviewer_id: string | null;
  reviews: Integer;
  stand_in_id: string | null;
  author_id: string | null;
  returns: Integer;
  forge_ref: string | null;
  asked_head: string | null;
  passed_head: string | null;
  merged_at: NullableInteger;
  merged_commit: string | null;
  closed_at: NullableInteger;
  close_reason: string | null;
};

export type ChangeCommentTable = {
  ordinal: Ordinal;
  id: string;
  change_id: string;
  agent_id: string | null;
  kind: ChangeComment['kind'];
  body: string;
  head: string;
  at: Integer;
  addressed_at: NullableInteger;
  addressed: string | null;
};

export type CheckTable = {
  ordinal: Ordinal;
  id: string;
  project_id: string;
  commit: string;
  tree: string;
  plan: string;
  steps: Json;
  changes: Json;
  onto: string;
  planned_at: Integer;
  started_at: NullableInteger;
  step: Integer;
  step_started_at: NullableInteger;
  pid: NullableInteger;
  process_start: string | null;
  output_offset: Integer;
  output_bytes: Integer;
  ended_at: NullableInteger;
  outcome: Check['outcome'];
  exit_code: NullableInteger;
  detail: string | null;
  counts: Json | null;
};

export type CheckChunkTable = {
  id: Ordinal;
  check_id: string;
  step: Integer;
  start_offset: Integer;
  bytes: Uint8Array;
  at: Integer;
};

export type QueueTable = {
  project_id: string;
  branch: string;
  seen: string | null;
  green: string | null;
  counts: Json | null;
  emergency: Json | null;
  paused_at: NullableInteger;
  waiting: Json | null;
  advance: Json | null;
  diverged_at: NullableInteger;
  began_at: Integer;
};

export type WithheldWorkTable = {
  agent_id: string;
  project_id: string;
  branch: string;
  head: string;
  definition: string;
  at: Integer;
};
