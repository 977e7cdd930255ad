import type { Arguments } from '../arguments.ts';

/** Read-only tools of pi. */
const readingTools = 'read,grep,find,ls';

/** pi takes conversation, model and prompt on its command line. */
export function piCommand(options: Arguments): [string, ...string[]] {
  const given = (flag: string, value: string | null) => (value === null ? [] : [flag, value]);
  return [
    ...options.command,
    ...given(options.forkSession ? '--fork' : '--session', options.resume),
    ...given('--session-id', options.sessionId),
    ...given('--model', options.model),
    ...given('--append-system-prompt', options.systemPromptFile),
    ...(options.permission === 'full' ? [] : ['--tools', readingTools]),
  ];
}
