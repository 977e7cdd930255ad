import { Complaint, usage } from './answer.ts';
import type { Call, Command } from './command.ts';
import { bodyOf, nextNumber, noWords, onePull } from './command.ts';
import { createCommand } from './create-command.ts';
import { labelCommands } from './label-commands.ts';
import { mergePull } from './merge-command.ts';
import { findPull, urlOf } from './pull.ts';

/** The commands that change something. */
export const writeCommands: Record<string, Command> = {
  ...labelCommands,
  'pr create': createCommand,
  'pr merge': mergePull,
  'pr ready': {
    flags: { undo: 'switch' },
    takesRepo: true,
    words: onePull,
    run({ state, flags }) {
      const pull = findPull(state, flags.words[0] ?? '');
      const name = `${state.owner}/${state.name}#${pull.number}`;
      if (pull.state !== 'OPEN') {
        const rule = 'Only draft pull requests can be marked as "ready for review"';
        throw new Complaint(`X Pull request ${name} is closed. ${rule}`);
      }
      pull.draft = flags.has('undo');
      return '';
    },
  },
  'pr comment': {
    flags: { 'body,b': 'text', 'body-file,F': 'text', 'editor,e': 'switch', 'web,w': 'switch', 'edit-last': 'switch' },
    takesRepo: true,
    words: onePull,
    run(call) {
      const pull = findPull(call.state, call.flags.words[0] ?? '');
      const body = bodyOf(call);
      if (body === undefined) throw usage('flags required when not running interactively', 'pr comment');
      pull.comments.push({ login: call.state.viewer, body });
      return `${urlOf(call.state, pull.number)}#issuecomment-${pull.comments.length}\n`;
    },
  },
  'pr close': {
    flags: { 'comment,c': 'text', 'delete-branch,d': 'switch' },
    takesRepo: true,
    words: { ...onePull, complaint: 'cannot close pull request: number, url, or branch required' },
    run: closePull,
  },
  'issue create': {
    flags: {
      'title,t': 'text',
      'body,b': 'text',
      'body-file,F': 'text',
      'label,l': 'list',
      'assignee,a': 'list',
      'web,w': 'switch',
    },
    takesRepo: true,
    words: noWords,
    run(call) {
      const [title, body] = [call.flags.text('title'), bodyOf(call)];
      if (title === undefined || body === undefined) {
        throw usage('must provide `--title` and `--body` when not running interactively', 'issue create');
      }
      const number = nextNumber(call.state);
      call.state.issues.push({ number, title, body, labels: call.flags.list('label'), state: 'OPEN' });
      return `${urlOf(call.state, number, 'issues')}\n`;
    },
  },
};

function closePull(call: Call): string {
  const { state, flags } = call;
  const pull = findPull(state, flags.words[0] ?? '');
  const name = `${state.owner}/${state.name}#${pull.number} (${pull.title})`;
  if (pull.state === 'MERGED')
    throw new Complaint(`X Pull request ${name} can't be closed because it was already merged`);
  if (pull.state === 'CLOSED') return '';
  const comment = flags.text('comment');
  if (comment !== undefined && comment !== '') pull.comments.push({ login: state.viewer, body: comment });
  pull.state = 'CLOSED';
  return '';
}
