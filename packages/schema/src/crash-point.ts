/**
 * Named places where a test may kill the daemon. `PAWL_CRASH_AT=<name>` ends the process there with SIGKILL, like a
 * power cut; so does `file:<path>` with a file that contains the name. The release build compiles this out. A suite
 * visits every name in this list, so a new step without a crash test is noticed.
 */
export const crashPoints = [
  'spawn.after_fork',
  'spawn.after_worktree_add',
  'spawn.after_worktree',
  'spawn.after_place',
  'spawn.after_input',
  'spawn.after_session_row',
  'spawn.after_grant',
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
  'cleanup.after_place',
  'cleanup.after_commit',
  'restart.after_adopt',
  'store.during_migration',
  'store.during_backup',
  'snapshot.after_objects',
  'snapshot.after_index',
  'restore.after_files',
  'move.after_notes',
  'reattach.after_record',
  'reattach.after_pointer',
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
  'approval.after_judge',
  'approval.after_answer',
  'approval.after_write',
  'approval.after_send',
  'mirror.after_file',
  'mirror.after_import',
  'change.after_ask',
  'change.after_open',
  'check.after_row',
  'check.after_clone',
  'check.after_process',
  'check.after_exit',
  'check.after_result',
  'queue.after_eject',
  'queue.after_pass',
  'advance.after_intent',
  'advance.after_objects',
  'advance.after_push',
  'advance.after_ref',
  'advance.after_record',
  'landing.after_record',
  'plan.after_initiative',
  'plan.after_record',
  'plan.before_commit',
  'plan.after_undo',
  'follow.after_ref',
  'emergency.after_record',
  'emergency.after_fixer',
  'refresh.after_intent',
  'refresh.after_ref',
  'refresh.after_files',
  'refresh.after_record',
  'detached.after_head',
  'crew.after_member',
  'crew.after_stop',
  'fix.after_intent',
  'fix.after_files',
  'fix.after_index',
  'fix.after_commit',
  'leaving.after_announcement',
  'leaving.after_end',
] as const;

export type CrashPoint = (typeof crashPoints)[number];

/** Kills this process if a test asked for it at this point. */
export function crashPoint(point: CrashPoint): void {
  if (process.env['PAWL_CRASH_AT'] === point || namedInFile() === point) process.kill(process.pid, 'SIGKILL');
}

/** The crash point in the file of `PAWL_CRASH_AT=file:<path>`, for a process that is already running. */
function namedInFile(): string | null {
  const path = /^file:(.+)$/.exec(process.env['PAWL_CRASH_AT'] ?? '')?.[1];
  if (path === undefined) return null;
  const { existsSync, readFileSync } = process.getBuiltinModule('node:fs');
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}
