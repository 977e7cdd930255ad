import type { ColumnType, Generated, Kysely, Selectable } from 'kysely';
import type { Account, Agent, Chunk, Message, Run, Session } from '@pawl/schema/record';
import type { EventType } from '@pawl/schema/event';
import type { ChangeComment, Check } from '@pawl/schema/change';
import type { Mail, Question } from '@pawl/schema/mail';

/** A 64-bit integer: SQLite reads it as a number, Postgres drivers as a string or a bigint. `integer()` makes it a number. */
export type Integer = ColumnType<number | string | bigint, number, number>;
type NullableInteger = ColumnType<number | string | bigint | null, number | null, number | null>;
/** Assigned by the database, rising in the order of insertion: what listings are ordered by, since clocks jump. */
type Ordinal = ColumnType<number | string | bigint, never, never>;
/** JSON as text, in both engines: it round-trips any string and keeps the order of keys. */
type Json = string;

type ProjectTable = {
  id: string;
  name: string;
  root: string;
  created_at: Integer;
};

/** One row for each project about which a person has decided something. */
type ProjectSettingsTable = {
  project_id: string;
  provider: string | null;
  push_allowed_at: NullableInteger;
  crew_wanted_at: NullableInteger;
  untracked_at: NullableInteger;
};

export type AgentTable = {
  ordinal: Ordinal;
  id: string;
  alias: string;
  project_id: string | null;
  parent_id: string | null;
  supervisor_id: string | null;
  fork_message_id: Integer;
  forked_conversation: string | null;
  snapshot: string | null;
  fresh_after: Integer;
  definition: string;
  kind: Agent['kind'];
  class: Agent['class'];
  provider: string | null;
  model: string | null;
  options: Json;
  mode: Agent['mode'];
  account_id: string | null;
  environment: Json;
  budget: Json;
  task_id: string | null;
  assignment: string | null;
  branch: string | null;
  base_commit: string | null;
  worktree: string | null;
  workdir: string | null;
  worktree_ready_at: NullableInteger;
  worktree_end: Json | null;
  created_at: Integer;
  stop_requested_at: NullableInteger;
  completion: Json | null;
  adopted: Json | null;
  stuck_at: NullableInteger;
  stuck_reason: string | null;
  ended_at: NullableInteger;
  end_reason: string | null;
  reaped_at: NullableInteger;
  /** The latest run and session, kept by `insertRun` and `insertSession`, so that a listing aggregates nothing. */
  run_id: Generated<string | null>;
  session_id: Generated<string | null>;
};

export type AgentPlaceTable = {
  agent_id: string;
  project_id: string;
  no: Integer;
  path: string;
  branch: string;
  base_commit: string;
  snapshot: string | null;
  ready_at: NullableInteger;
  end: Json | null;
};

export type RunTable = {
  ordinal: Ordinal;
  id: string;
  repo_path: string | null;
  session_id: string;
  project_id: string | null;
  agent_id: string;
  agent_kind: Run['agentKind'];
  parent_run_id: string | null;
  task: string;
  definition: Json | null;
  started_at: Integer;
  ended_at: NullableInteger;
  outcome: Run['outcome'];
  detail: string | null;
  questions: Json | null;
  result_before: string | null;
  wait_until: NullableInteger;
  wait_for: Run['waitFor'];
  cause: Json | null;
};

export type SessionTable = {
  id: string;
  agent_id: string;
  run_id: string;
  no: Integer;
  purpose: Session['purpose'];
  conversation: Session['conversation'];
  provider_session_id: string | null;
  account_id: string | null;
  planned_at: Integer;
  started_at: NullableInteger;
  pid: NullableInteger;
  process_start: string | null;
  paused_at: NullableInteger;
  interrupted_at: NullableInteger;
  ended_at: NullableInteger;
  exit_code: NullableInteger;
  end_reason: string | null;
  usage: Json;
  reported: Json | null;
  result: Json | null;
  limit_until: NullableInteger;
  /** Bytes of each stream that are stored as chunks; moved in the same transaction as the chunk. */
  stdout_offset: Generated<number | string | bigint>;
  stderr_offset: Generated<number | string | bigint>;
};

export type MessageTable = {
  id: Ordinal;
  agent_id: string;
  run_id: string | null;
  session_id: string | null;
  kind: Message['kind'];
  content: string;
  data: Json | null;
  created_at: Integer;
};

/** No foreign keys: output outlives the rows that it came from. */
export type ChunkTable = {
  id: Ordinal;
  session_id: string;
  agent_id: string;
  stream: Chunk['stream'];
  start_offset: Integer;
  bytes: Uint8Array;
  at: Integer;
};

/** The log refers to projects and agents without foreign keys: it tells what happened, whatever became of the rows. */
export type EventTable = {
  seq: Integer;
  at: Integer;
  type: EventType;
  project_id: string | null;
  agent_id: string | null;
  peer_id: string | null;
  data: Json;
};

/** What a person has begun to write to an agent, and where they were in its output. */
type DraftTable = {
  agent_id: string;
  input: string;
  scroll: Integer;
  updated_at: Integer;
};

export type AccountTable = {
  id: string;
  provider: string;
  name: string;
  kind: Account['kind'];
  email: string | null;
  base_url: string | null;
  created_at: Integer;
  last_used_at: NullableInteger;
  exhausted_until: NullableInteger;
  strikes: Integer;
  invalid_reason: string | null;
  removed_at: NullableInteger;
};

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
};

export type MailTable = {
  ordinal: Ordinal;
  id: string;
  project_id: string | null;
  from_id: string;
  to_id: string;
  kind: Mail['kind'];
  body: string;
  body_file: string | null;
  body_bytes: Integer;
  question_id: string | null;
  created_at: Integer;
  delivered_at: NullableInteger;
  read_at: NullableInteger;
  acked_at: NullableInteger;
  channel: Mail['channel'];
  dead_at: NullableInteger;
  dead_reason: string | null;
  claim_session_id: string | null;
  attempts: Integer;
};

export type QuestionTable = {
  ordinal: Ordinal;
  id: string;
  project_id: string | null;
  from_id: string;
  to_id: string;
  kind: Question['kind'];
  question: string;
  mail_id: string;
  task_id: string | null;
  phase: string | null;
  asked_at: Integer;
  deadline_at: NullableInteger;
  listened_until: NullableInteger;
  ended_at: NullableInteger;
  end: Question['end'];
  answer: string | null;
  told_at: NullableInteger;
  answer_mail_id: string | null;
};

/** What is remembered of one agent's mail beside the mail: when it was told that there is some, and looked, and was woken. */
export type MailboxTable = {
  agent_id: string;
  hinted_at: NullableInteger;
  looked_at: NullableInteger;
  /** The latest times at which ordinary mail began a turn. */
  wakes: Json;
};

export type NudgeTable = {
  agent_id: string;
  nudged_at: NullableInteger;
  mail_id: string | null;
  backoff_ms: Integer;
  seen_seq: Integer;
  skip_reason: string | null;
};

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

type WithheldWorkTable = {
  agent_id: string;
  project_id: string;
  branch: string;
  head: string;
  definition: string;
  at: Integer;
};

type SettingTable = {
  key: string;
  value: Json;
  updated_at: Integer;
};

/** One row, `event_seq`: the last number given. Its row lock orders the commits of several writers. */
type CounterTable = {
  name: string;
  value: Integer;
};

type MigrationTable = {
  name: string;
  applied_at: Integer;
};

export type Tables = {
  projects: ProjectTable;
  project_settings: ProjectSettingsTable;
  agents: AgentTable;
  agent_places: AgentPlaceTable;
  runs: RunTable;
  sessions: SessionTable;
  messages: MessageTable;
  chunks: ChunkTable;
  events: EventTable;
  accounts: AccountTable;
  tasks: TaskTable;
  drafts: DraftTable;
  mail: MailTable;
  questions: QuestionTable;
  mailboxes: MailboxTable;
  nudges: NudgeTable;
  changes: ChangeTable;
  change_comments: ChangeCommentTable;
  checks: CheckTable;
  check_chunks: CheckChunkTable;
  queues: QueueTable;
  withheld_work: WithheldWorkTable;
  settings: SettingTable;
  counters: CounterTable;
  migrations: MigrationTable;
};

/** What the query functions read from: the committed rows, or a transaction that is open. */
export type Database = Kysely<Tables>;

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
