import { Complaint, usage } from './answer.ts';
import type { Call, Command } from './command.ts';
import { bodyOf, nextNumber, noWords } from './command.ts';
import { urlOf } from './pull.ts';
import { contains, followHead, tipOf } from './server.ts';
import type { FakePull } from './state.ts';

/** `gh pr create`. */
export const createCommand: Command = {
  flags: {
    'draft,d': 'switch',
    'title,t': 'text',
    'body,b': 'text',
    'body-file,F': 'text',
    'base,B': 'text',
    'head,H': 'text',
    'label,l': 'list',
    'assignee,a': 'list',
    'reviewer,r': 'list',
    'fill,f': 'switch',
    'web,w': 'switch',
    'no-maintainer-edit': 'switch',
  },
  takesRepo: true,
  words: noWords,
  run: createPull,
};

function createPull(call: Call): string {
  const { state, flags } = call;
  const [title, body] = [flags.text('title'), bodyOf(call)];
  if (title === undefined || body === undefined) {
    const ways = '(or `--fill` or `fill-first` or `--fillverbose`)';
    throw usage(`must provide \`--title\` and \`--body\` ${ways} when not running interactively`, 'pr create');
  }
  const label = flags.text('head') ?? '';
  const [branch = '', headOwner = state.owner] = label.split(':').toReversed();
  const base = flags.text('base') ?? 'main';
  const existing = state.pulls.find(
    (pull) => pull.state === 'OPEN' && pull.branch === branch && pull.headOwner === headOwner && pull.base === base,
  );
  if (existing !== undefined) {
    const words = `a pull request for branch "${label}" into branch "${base}" already exists:`;
    throw new Complaint(`${words}\n${urlOf(state, existing.number)}`);
  }
  if (title === '') throw new Complaint('pull request title must not be blank');
  const missing = flags.list('label').find((each) => !state.labels.includes(each));
  if (missing !== undefined) throw new Complaint(`could not add label: '${missing}' not found`);
  const tip = tipOf(state, branch, headOwner);
  const target = tipOf(state, base);
  const failed = (reason: string) =>
    new Complaint(`pull request create failed: GraphQL: ${reason} (createPullRequest)`);
  if (tip === null) throw failed("Head sha can't be blank, Base sha can't be blank, Head ref must be a branch");
  if (target === null) throw failed('Base ref must be a branch');
  const pull: FakePull = {
    number: nextNumber(state),
    title,
    body,
    author: state.viewer,
    assignees: flags.list('assignee').map((login) => (login === '@me' ? state.viewer : login)),
    branch,
    headOwner,
    head: '',
    base,
    state: 'OPEN',
    draft: flags.has('draft'),
    labels: flags.list('label'),
    comments: [],
    reviews: [],
    mergeCommit: null,
  };
  followHead(state, pull);
  if (contains(state, target, tip)) throw failed(`No commits between ${base} and ${branch}`);
  state.pulls.push(pull);
  const url = `${urlOf(state, pull.number)}\n`;
  if (pull.labels.length > 0 && !['ADMIN', 'MAINTAIN', 'WRITE'].includes(state.permission)) {
    pull.labels = [];
    const words = `${state.viewer} does not have the correct permissions to execute \`AddLabelsToLabelable\``;
    throw new Complaint(`pull request update failed: GraphQL: ${words} (addLabelsToLabelable)`, 1, url);
  }
  return url;
}
