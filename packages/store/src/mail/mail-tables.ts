import type { Mail, Question } from '@pawl/schema/mail';
import type { Integer, Json, NullableInteger, Ordinal } from '../column.ts';

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

/** The state of one agent's mailbox: when it was told about mail, when it looked, when it was woken. */
export type MailboxTable = {
  agent_id: string;
  hinted_at: NullableInteger;
  looked_at: NullableInteger;
  /** The latest times at which ordinary mail started a turn. */
  wakes: Json;
};
