import { failed, statusInWords } from '../fault.ts';
import { at, isObject, listAt, textAt } from '../json.ts';
import type { TurnEnd } from '../stream-writer.ts';

const statuses: Record<string, number> = {
  usageLimitExceeded: 429,
  rateLimitExceeded: 429,
  sessionBudgetExceeded: 429,
  serverOverloaded: 529,
  policyCapacityUnavailable: 529,
  flexUnavailable: 529,
  internalServerError: 500,
  unauthorized: 401,
};

/** Classifies a failed turn, by Codex's own error code if present. */
export function codexFailure(error: unknown): TurnEnd {
  const text = textAt(error, 'message');
  const info = at(error, 'codexErrorInfo');
  if (typeof info === 'string') return failed(text, statuses[info] ?? statusInWords(text));
  const [detail] = isObject(info) ? Object.values(info) : [];
  const status = at(detail, 'httpStatusCode');
  return failed(text, typeof status === 'number' ? status : statusInWords(text));
}

/** True if the account's allowance is used up; another account may have some left. */
export function isUsageLimit(error: unknown): boolean {
  const info = at(error, 'codexErrorInfo');
  return (
    info === 'usageLimitExceeded' ||
    (info !== 'rateLimitExceeded' && /usage limit|quota/i.test(textAt(error, 'message')))
  );
}

/** When the limit ends, in seconds since 1970: by the exhausted window, the later one if both are. */
export function limitEnd(rateLimits: unknown): number | null {
  const ends = [at(rateLimits, 'primary'), at(rateLimits, 'secondary')].flatMap((window) => {
    const [used, resetsAt] = [at(window, 'usedPercent'), at(window, 'resetsAt')];
    return typeof used === 'number' && used >= 100 && typeof resetsAt === 'number' ? [resetsAt] : [];
  });
  return ends.length === 0 ? null : Math.max(...ends);
}

/** Answers a request of Codex by the session's permission; undefined for unexpected ones. */
export function codexAnswer(method: string, params: unknown, isFull: boolean): object | undefined {
  switch (method) {
    case 'item/commandExecution/requestApproval':
    case 'item/fileChange/requestApproval':
      return { decision: isFull ? 'accept' : 'decline' };
    case 'execCommandApproval':
    case 'applyPatchApproval':
      return { decision: isFull ? 'approved' : { denied: { rejection: 'This session may only read.' } } };
    case 'mcpServer/elicitation/request': {
      // Only a tool approval can be answered without a person.
      const asksForTool = isFull && textAt(params, '_meta', 'codex_approval_kind') !== '';
      return { action: asksForTool ? 'accept' : 'decline', content: asksForTool ? {} : null, _meta: null };
    }
    case 'item/tool/requestUserInput':
      return {
        answers: Object.fromEntries(listAt(params, 'questions').map((each) => [textAt(each, 'id'), { answers: [] }])),
      };
    case 'item/permissions/requestApproval':
      return { permissions: isFull ? (at(params, 'permissions') ?? {}) : {}, scope: 'turn' };
    default:
      return undefined;
  }
}
