import type { Generated, Kysely, Selectable } from 'kysely';
import type { Account, Agent, Chunk, Message, ProjectSettings, Run, Session } from '@pawl/schema/record';
import type { EventType } from '@pawl/schema/event';
import type { Rule } from '@pawl/schema/rule';
import type {
  ChangeCommentTable,
  ChangeTable,
  CheckChunkTable,
  CheckTable,
  QueueTable,
  WithheldWorkTable,
} from './changes/change-tables.ts';
import type { Integer, Json, NullableInteger, Ordinal } from './column.ts';
import type { ApprovalTable } from './sessions/approval-table.ts';
import type {
  DecisionTable,
  InitiativeTable,
  PageTable,
  PhaseTable,
  PlanAgentTable,
  PlanVersionTable,
  ReviewThreadTable,
  TaskLandingTable,
  ProposalTable,
  TaskTable,
} from './plan/plan-tables.ts';
import type { MailboxTable, MailTable, QuestionTable } from './mail/mail-tables.ts';

type ProjectTable = {
  id: string;
  name: string;
  root: string;
  created_at: Integer;
};

/** One row per project with decisions of a person. */
type ProjectSettingsTable = {
  project_id: string;
  provider: string | null;
  push_allowed_at: NullableInteger;
  crew_wanted_at: NullableInteger;
  untracked_at: NullableInteger;
  interaction: ProjectSettings['interaction'];
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
  access: Agent['access'];
  access_needs: Agent['accessNeeds'];
  key_proxy: Agent['keyProxy'];
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
  /**
   * The latest run and session, maintained by `insertRun` and `insertSession`, so that listings need no aggregation.
   */
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
  /** The agent's assignment, only in the first run for it. */
  assignment: string | null;
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
  sandbox: Session['sandbox'];
  paused_at: NullableInteger;
  interrupted_at: NullableInteger;
  ended_at: NullableInteger;
  exit_code: NullableInteger;
  end_reason: string | null;
  usage: Json;
  reported: Json | null;
  result: Json | null;
  limit_until: NullableInteger;
  /** Bytes of each stream stored as chunks; advanced in the chunk's transaction. */
  stdout_offset: Generated<number | string | bigint>;
  proxy_offset: Generated<number | string | bigint>;
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

export type MessageBodyTable = {
  message_id: number | string | bigint;
  body: string;
};

/** No foreign keys: output outlives its rows. */
export type ChunkTable = {
  id: Ordinal;
  session_id: string;
  agent_id: string;
  stream: Chunk['stream'];
  start_offset: Integer;
  bytes: Uint8Array;
  at: Integer;
};

/** No foreign keys: the log records what happened, whatever became of the rows. */
export type EventTable = {
  seq: Integer;
  at: Integer;
  type: EventType;
  project_id: string | null;
  agent_id: string | null;
  peer_id: string | null;
  data: Json;
};

/** A person's unsent input to an agent, and the scroll position in its output. */
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
  key_proxy: Account['keyProxy'];
  created_at: Integer;
  last_used_at: NullableInteger;
  exhausted_until: NullableInteger;
  strikes: Integer;
  invalid_reason: string | null;
  removed_at: NullableInteger;
};

export type NudgeTable = {
  agent_id: string;
  nudged_at: NullableInteger;
  mail_id: string | null;
  backoff_ms: Integer;
  seen_seq: Integer;
  skip_reason: string | null;
};

type PathLockTable = {
  ordinal: Ordinal;
  id: string;
  project_id: string;
  agent_id: string;
  globs: Json;
  created_at: Integer;
  expires_at: Integer;
};

type RuleTable = {
  ordinal: Ordinal;
  id: string;
  scope: Rule['scope'];
  scope_id: string | null;
  effect: Rule['effect'];
  match: string;
  made_by: string;
  request_id: string | null;
  created_at: Integer;
  used_at: NullableInteger;
  revoked_at: NullableInteger;
};

type WebSessionTable = {
  ordinal: Ordinal;
  id: string;
  proof: string;
  browser: string;
  created_at: Integer;
  used_at: Integer;
  expires_at: Integer;
  revoked_at: NullableInteger;
};

/** One row: the facts that a home has once. */
type DaemonStateTable = {
  id: Integer;
  root_agent_id: string | null;
  current_agent_id: string | null;
  clock: Json | null;
  search_path: string | null;
  mail_mirror_seq: NullableInteger;
  port: NullableInteger;
  updated_at: Integer;
};

/** One row, `event_seq`: the last assigned number. Its row lock orders the commits of several writers. */
type CounterTable = {
  name: string;
  value: Integer;
};

type MigrationTable = {
  name: string;
  applied_at: Integer;
};

/** Every table but those of facts, whose columns are declared by the rooms that own them (`factTable`). */
export type Tables = {
  projects: ProjectTable;
  project_settings: ProjectSettingsTable;
  agents: AgentTable;
  agent_places: AgentPlaceTable;
  runs: RunTable;
  sessions: SessionTable;
  messages: MessageTable;
  message_bodies: MessageBodyTable;
  chunks: ChunkTable;
  events: EventTable;
  accounts: AccountTable;
  tasks: TaskTable;
  initiatives: InitiativeTable;
  pages: PageTable;
  decisions: DecisionTable;
  phases: PhaseTable;
  plan_versions: PlanVersionTable;
  proposals: ProposalTable;
  plan_agents: PlanAgentTable;
  review_threads: ReviewThreadTable;
  task_landings: TaskLandingTable;
  drafts: DraftTable;
  mail: MailTable;
  questions: QuestionTable;
  approvals: ApprovalTable;
  mailboxes: MailboxTable;
  nudges: NudgeTable;
  changes: ChangeTable;
  change_comments: ChangeCommentTable;
  checks: CheckTable;
  check_chunks: CheckChunkTable;
  queues: QueueTable;
  withheld_work: WithheldWorkTable;
  rules: RuleTable;
  path_locks: PathLockTable;
  web_sessions: WebSessionTable;
  daemon_state: DaemonStateTable;
  counters: CounterTable;
  migrations: MigrationTable;
};

/** The source of queries: committed rows, or an open transaction. */
export type Database = Kysely<Tables>;

export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
