import type { WorktreeView } from '@pawl/protocol/agents/worktrees/view';
import type { ChangeView } from '@pawl/protocol/changes/view';
import type { CheckView } from '@pawl/protocol/checks/view';
import type { MailView } from '@pawl/protocol/mail/view';
import type { TaskHistory, TaskView } from '@pawl/protocol/plan/view';
import type { Tone } from './tone.ts';

/** The tone of an agent's state, as `stateOf` names it. */
export function agentTone(state: string): Tone {
  if (state === 'completed') return 'good';
  if (state === 'running' || state === 'starting') return 'active';
  if (['waiting_for_input', 'waiting_for_approval', 'exhausted', 'over_budget', 'paused'].includes(state))
    return 'attention';
  return state === 'crashed' ? 'bad' : 'muted';
}

export function changeTone(state: ChangeView['state']): Tone {
  if (state === 'merged' || state === 'green' || state === 'ready') return 'good';
  if (state === 'testing') return 'active';
  if (state === 'ejected') return 'bad';
  if (state === 'needs-human-input' || state === 'blocked') return 'attention';
  return state === 'closed' ? 'muted' : 'plain';
}

export function checkTone(outcome: CheckView['outcome']): Tone {
  const tones = { passed: 'good', failed: 'bad', cancelled: 'muted', running: 'active' } as const;
  return tones[outcome];
}

export function taskTone(state: TaskView['state']): Tone {
  if (state === 'completed') return 'good';
  if (state === 'in_progress' || state === 'in_review') return 'active';
  return state === 'blocked' ? 'attention' : 'plain';
}

/** The tone of the result of an assignment. */
export function resultTone(state: TaskHistory['tasks'][number]['state']): Tone {
  if (state === 'merged') return 'good';
  if (state === 'failed') return 'bad';
  if (state === 'over-budget') return 'attention';
  return state === 'open' ? 'active' : 'muted';
}

export function mailTone({ dead, status }: Pick<MailView, 'dead' | 'status'>): Tone {
  if (dead !== null) return 'bad';
  return status === 'pending' || status === 'delivered' ? 'strong' : 'muted';
}

export function worktreeTone(state: WorktreeView['state']): Tone {
  if (state === 'in-use') return 'good';
  if (state === 'trashed') return 'muted';
  return state === 'retained' ? 'attention' : 'bad';
}
