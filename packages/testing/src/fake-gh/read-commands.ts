import { Complaint } from './answer.ts';
import type { Call, Command } from './command.ts';
import { jsonFlags, noWords, onePull, printed } from './command.ts';
import { exportFields } from './flags.ts';
import { bucketOf, findPull, pullFields, showPull, urlOf } from './pull.ts';
import { followHead } from './server.ts';
import { timeOf } from './state.ts';

/** All flags and fields are those of gh 2.23, the oldest supported version. */
const runFields = [
  'conclusion',
  'createdAt',
  'databaseId',
  'displayTitle',
  'event',
  'headBranch',
  'headSha',
  'name',
  'number',
  'startedAt',
  'status',
  'updatedAt',
  'url',
  'workflowDatabaseId',
  'workflowName',
] as const;

const issueFields = ['body', 'labels', 'number', 'state', 'title', 'url'] as const;
const repositoryFields = ['isFork', 'name', 'nameWithOwner', 'owner', 'viewerPermission'] as const;

/** Read-only commands. */
export const readCommands: Record<string, Command> = {
  'pr list': {
    flags: {
      ...jsonFlags,
      'state,s': 'text',
      'limit,L': 'number',
      'base,B': 'text',
      'head,H': 'text',
      'label,l': 'list',
      'author,A': 'text',
      'assignee,a': 'text',
      app: 'text',
      'search,S': 'text',
      'draft,d': 'switch',
      'web,w': 'switch',
    },
    takesRepo: true,
    words: noWords,
    fields: pullFields,
    run: listPulls,
  },
  'pr view': {
    flags: { ...jsonFlags, 'comments,c': 'switch', 'web,w': 'switch' },
    takesRepo: true,
    words: onePull,
    fields: pullFields,
    run: ({ state, flags }) => printed(showPull(state, findPull(state, flags.words[0] ?? ''), flags.list('json'))),
  },
  'pr checks': {
    flags: { required: 'switch', watch: 'switch', 'interval,i': 'number', 'web,w': 'switch' },
    takesRepo: true,
    words: onePull,
    run: showChecks,
  },
  'run list': {
    flags: {
      ...jsonFlags,
      'limit,L': 'number',
      'workflow,w': 'text',
      'branch,b': 'text',
      'user,u': 'text',
    },
    takesRepo: true,
    words: noWords,
    fields: runFields,
    run: listRuns,
  },
  'issue list': {
    flags: { ...jsonFlags, 'state,s': 'text', 'limit,L': 'number', 'label,l': 'list', 'search,S': 'text' },
    takesRepo: true,
    words: noWords,
    fields: issueFields,
    run({ state, flags }) {
      const shown = flags.text('state') === 'all' ? state.issues : state.issues.filter((each) => each.state === 'OPEN');
      const rows = shown.toReversed().slice(0, flags.number('limit') ?? 30);
      return printed(
        rows.map((issue) =>
          exportFields(flags.list('json'), issueFields, (field) =>
            field === 'url' ? urlOf(state, issue.number, 'issues') : issue[field],
          ),
        ),
      );
    },
  },
  'repo view': {
    flags: { ...jsonFlags, 'branch,b': 'text', 'web,w': 'switch' },
    takesRepo: false,
    words: { least: 1, most: 1, complaint: 'accepts at most 1 arg(s), received 2' },
    fields: repositoryFields,
    run({ state, flags }) {
      const values = {
        isFork: false,
        name: state.name,
        nameWithOwner: `${state.owner}/${state.name}`,
        owner: { login: state.owner },
        viewerPermission: state.permission,
      };
      return printed(exportFields(flags.list('json'), repositoryFields, (field) => values[field]));
    },
  },
};

function listPulls({ state, flags }: Call): string {
  const wanted = (flags.text('state') ?? 'open').toUpperCase();
  if (!['OPEN', 'CLOSED', 'MERGED', 'ALL'].includes(wanted)) {
    const reason = 'valid values are {open|closed|merged|all}';
    throw new Complaint(`invalid argument "${flags.text('state')}" for "-s, --state" flag: ${reason}`);
  }
  const me = (login: string | undefined) => (login === '@me' ? state.viewer : login);
  const [author, assignee] = [me(flags.text('author')), me(flags.text('assignee'))];
  // Any of these uses the search index, which learns of new pull requests later.
  const isSearch = [author, assignee, flags.text('search')].some((each) => each !== undefined) || flags.has('label');
  const labels = flags.list('label');
  const pulls = state.pulls.filter((pull) => {
    if (isSearch && state.unindexed.includes(pull.number)) return false;
    const isWanted = wanted === 'ALL' || pull.state === wanted || (wanted === 'CLOSED' && pull.state === 'MERGED');
    const fits = (flag: string, value: string) => flags.text(flag) === undefined || flags.text(flag) === value;
    return (
      isWanted &&
      fits('base', pull.base) &&
      fits('head', pull.branch) &&
      (author === undefined || pull.author === author) &&
      (assignee === undefined || pull.assignees.includes(assignee)) &&
      labels.every((label) => pull.labels.includes(label))
    );
  });
  const rows = pulls.toReversed().slice(0, flags.number('limit') ?? 30);
  return printed(
    rows.map((pull) => {
      followHead(state, pull);
      return showPull(state, pull, flags.list('json'));
    }),
  );
}

/** Failed or pending checks make it exit with 1. */
function showChecks({ state, flags }: Call): string {
  const pull = findPull(state, flags.words[0] ?? '');
  const checks = state.checks[pull.head] ?? [];
  if (checks.length === 0) throw new Complaint(`no checks reported on the '${pull.branch}' branch`);
  const rows = checks.map((check) => ({ ...check, ...bucketOf(check) }));
  const text = rows.map(({ name, bucket }) => `${name}\t${bucket}\t0\n`).join('');
  if (rows.some(({ bucket }) => bucket === 'fail' || bucket === 'pending')) throw new Complaint('', 1, text);
  return text;
}

function listRuns({ state, flags }: Call): string {
  const branch = flags.text('branch');
  const runs = state.runs
    .filter((run) => branch === undefined || run.branch === branch)
    .slice(0, flags.number('limit') ?? 20);
  return printed(
    runs.map((run) => {
      const values: Partial<Record<(typeof runFields)[number], unknown>> = {
        databaseId: run.id,
        headBranch: run.branch,
        headSha: run.commit,
        workflowName: run.workflow,
        name: run.workflow,
        event: run.event,
        status: run.status,
        conclusion: run.conclusion,
        url: urlOf(state, run.id, 'actions/runs'),
        createdAt: timeOf(state, run.id),
      };
      return exportFields(flags.list('json'), runFields, (field) => values[field] ?? null);
    }),
  );
}
