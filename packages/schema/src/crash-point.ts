/**
 * Named places where a test may kill the daemon. `PAWL_CRASH_AT=<name>` makes the process end there with SIGKILL,
 * as a power cut would; the release build defines that variable away. A suite visits every name in this list, so a new
 * step without a crash test is noticed.
 */
export const crashPoints = [
  'spawn.after_fork',
  'spawn.after_worktree_add',
  'spawn.after_worktree',
  'spawn.after_input',
  'spawn.after_session_row',
  'spawn.after_process',
  'spawn.after_pid',
  'ingest.before_commit',
  'ingest.after_commit',
  'finish.after_flush',
  'finish.after_commit',
  'stop.after_request',
  'stop.after_processes',
  'fork.after_snapshot',
  'fork.after_agent',
  'fork.after_run',
  'fork.after_message',
  'fork.before_commit',
  'kill.after_agent',
  'kill.after_runs',
  'kill.before_commit',
  'kill.after_commit',
  'cancel.after_commit',
  'pause.after_request',
  'continue.after_processes',
  'cleanup.after_trash',
  'cleanup.after_commit',
  'restart.after_adopt',
  'store.during_migration',
  'store.during_backup',
  'snapshot.after_objects',
  'snapshot.after_index',
  'restore.after_files',
  'merge.after_intent',
  'merge.after_ref',
  'merge.after_files',
  'merge.after_end',
  'mail.after_record',
  'mail.after_claim',
  'mail.after_write',
  'mail.after_wake',
  'mail.after_dead_letter',
  'complete.after_record',
  'question.after_ask',
  'question.after_answer',
  'mirror.after_file',
  'mirror.after_import',
] as const;

export type CrashPoint = (typeof crashPoints)[number];

/** Ends this process at once when a test asked for it at this point. */
export function crashPoint(point: CrashPoint): void {
  if (process.env['PAWL_CRASH_AT'] === point) process.kill(process.pid, 'SIGKILL');
}
