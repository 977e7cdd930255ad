import type { AgentAction, Hearing } from '@pawl/schema/definition';

/** Requirements on a definition: at least one action from each list, and a subject it must hear of, if named. */
export type Needs = { actions: readonly (readonly AgentAction[])[]; hears?: Hearing };

/** Agents' access to one route of the daemon. */
export type Door = {
  /** The route's effect; completes "may not …". */
  does: string;
  /** `none` reserves the route for people; `main` refuses subagents. */
  agents: 'none' | 'main' | 'any';
  /** Why subagents are refused. */
  invariant?: Invariant;
  needs: Needs;
  /** Further requirements for one case, which the handler recognises. */
  also?: { when: string; needs: Needs };
  /** Requirement rows this rests on. */
  row: string;
};

/** `spawn`: delegation depth is 1. `change`: only mains have changes. */
export type Invariant = 'spawn' | 'change';

const nothing: Needs = { actions: [] };
const patch: Needs = { actions: [['Patch']] };
const finalize: Needs = { actions: [['Finalize']] };
const delegate: Needs = { actions: [['Delegate']] };
/** An author may withdraw or block its own proposal; settling changes does not require the right to propose. */
const patchOrFinalize: Needs = { actions: [['Patch', 'Finalize']] };

const person = (does: string, row: string): Door => ({ does, agents: 'none', needs: nothing, row });
const open = (does: string, row: string): Door => ({ does, agents: 'any', needs: nothing, row });
const onChange = (does: string, needs: Needs, row: string): Door => ({
  does,
  agents: 'main',
  invariant: 'change',
  needs,
  row,
});
const spawning = (does: string, needs: Needs, row: string): Door => ({
  does,
  agents: 'main',
  invariant: 'spawn',
  needs,
  row,
});

/**
 * The access table of all routes. Commands and MCP tools use the same routes, so it is complete. A route that is
 * missing here refuses every agent. People may use every route.
 */
export const doors = {
  // Proposing: Patch.
  openChange: onChange('open a change or move its head', patch, 'S2-17, S4-04, S4-09'),
  mergeChange: onChange('queue a change', patch, 'S2-17, S4-04'),
  retryChange: onChange('retry a change', patch, 'S2-17, S4-04'),
  mergeErrand: person('merge an errand', 'S3-56, 7.18'),

  // Settling: Finalize.
  closeChange: {
    ...onChange('close a change', patchOrFinalize, 'S2-17, S4-04, S4-07'),
    also: { when: 'the change is another agent’s', needs: { actions: [['Finalize']], hears: 'changes' } },
  },
  blockChange: onChange('block a change', patchOrFinalize, 'S2-17, S4-07'),
  unblockChange: onChange('unblock a change', patchOrFinalize, 'S2-17, S4-07'),
  completeTask: {
    ...open('complete a planned task', 'S2-17, S4-10'),
    also: { when: 'another agent has the task, or none has', needs: finalize },
  },
  blockTask: person('block a planned task', 'S2-17'),
  unblockTask: person('unblock a planned task', 'S2-17'),

  // Making agents: Delegate; a main may always fork itself.
  work: {
    ...spawning('start another agent', delegate, 'S2-10, S2-13, S2-17, W2-07'),
    also: { when: 'it takes up a planned task', needs: finalize },
  },
  delegate: spawning('delegate', delegate, 'S2-10, S2-13, S2-17, W2-07'),
  fork: spawning('fork', nothing, 'S1-31, S2-13, S2-14'),

  // Talking about changes needs no action: reviewers have none.
  commentChange: onChange('comment on a change', nothing, 'S4-14'),
  checkQueue: onChange('request a check of the target branch', { actions: [], hears: 'emergency' }, 'S4-07'),

  // An agent's own work: its end, its history, its tools.
  completeAgent: open('complete itself', 'S4-10'),
  killAgent: open('end itself and its descendants', 'S1-19'),
  clearHistory: open('clear its own history', '7.23'),
  markHistory: open('mark its own history', '7.23'),
  rewindHistory: open('rewind its own history', '7.23'),
  gate: open('ask what its definition allows', 'S2-16, S2-17'),
  askPermission: open('ask a person for a permission', 'S2-16'),
  addTask: open('plan a task', '7.23'),

  // Mail and questions; the handlers decide who may write to whom.
  sendMail: open('send mail', 'S1-25, S2-09, S2-11, S2-12'),
  fetchMail: open('fetch its own mail', 'S1-26'),
  waitMail: open('wait for its own mail', 'S1-26'),
  readMail: open('read its own mail', 'S1-27'),
  ackMail: open('acknowledge its own mail', 'S4-16'),
  askQuestion: open('ask a question', 'S3-81, S2-09, S2-11, S2-12'),
  answerQuestion: open('answer a question', 'S3-82'),
  noteShown: open('note that it was shown an answer', 'S3-81'),

  // Reading an agent's own data, or its project's.
  runResult: open('read the results of its own runs and of its children’s', 'S2-11'),
  health: open("check the daemon's health", '7.23'),
  daemon: open("see the daemon's status", '7.23'),
  openapi: open('read the list of routes', '7.23'),
  whoami: open('see its own identity', '7.23'),
  mcp: open('call a tool', '7.23'),
  projectSettings: open('read the settings of a project', '7.23'),
  crew: open('see the crew of its project', '7.23'),
  listProjects: open('list projects', '7.23'),
  listAgents: open('list agents', '7.23'),
  inspectAgent: open('inspect itself', '7.23'),
  history: open('read its own history', '7.23'),
  output: open('read its own output', '7.23'),
  events: open('read its own events', '7.23'),
  definitions: open('list definitions', '7.16'),
  agentPrompt: open('read its own prompt', '7.23'),
  agentInputs: open('read its own inputs', '7.23'),
  listProviders: open('list providers', '7.23'),
  listMail: open('list its own mail', 'S1-26'),
  showMail: open('see one of its own mails', 'S1-27'),
  showQuestion: open('see one of its own questions', 'S3-81'),
  listen: open('listen for questions', 'S3-80'),
  roster: open('see the agents of its project', 'S0-05'),
  listTasks: open('list planned tasks', '7.23'),
  showTask: open('see a planned task', '7.23'),
  diffErrand: open('see its own diff', '7.23'),
  listChanges: open('list changes', '7.23'),
  showChange: open('see a change', '7.23'),
  diffChange: open('see the diff of a change', '7.23'),
  logChange: open('see the output of a check', '7.23'),
  listQueues: open('see the queue', '7.23'),
  queueLog: open("see the output of the target branch's check", '7.23'),
  taskHistory: open('read the task history', '7.23'),

  // For people only.
  stopDaemon: person('stop the daemon', '7.23'),
  doctor: person('diagnose the home', '7.23'),
  repair: person('repair the home', '7.23'),
  addProject: person('add a project', '7.23'),
  changeProjectSettings: person('change the settings of a project', '7.23'),
  listProjectDetails: person('list projects with their settings', '7.23'),
  untrackProject: person('stop tracking a project', '7.23'),
  startCrew: person('start the crew of a project', '7.23'),
  stopCrew: person('stop the crew of a project', '7.23'),
  stopAgent: person('stop an agent', '7.3'),
  stopAll: person('stop all agents', '7.3'),
  resumeAgent: person('resume an agent', '7.3'),
  tellAgent: person('message an agent in a person’s name', '7.6'),
  replyAgent: person('reply in a person’s name', '7.6'),
  pauseAgent: person('pause an agent', '7.3'),
  continueAgent: person('continue an agent', '7.3'),
  interruptAgent: person('interrupt an agent', '7.3'),
  reapAgent: person('hide a dead agent', '7.3'),
  cancelRun: person('cancel a run', '7.3'),
  inbox: person('read a person’s inbox', '7.6'),
  desk: person('see a person’s desk', '7.1'),
  switchDesk: person('switch a person’s desk', '7.1'),
  trustList: person('list trusted files', '7.16'),
  trust: person('trust a repository’s files', '7.16'),
  worktrees: person('list worktrees', '7.11'),
  restoreWorktree: person('restore a worktree', '7.11'),
  pruneWorktrees: person('prune worktrees', '7.11'),
  top: person('see all agents’ processes', '7.23'),
  listAccounts: person('list accounts', '7.22'),
  addAccount: person('add an account', '7.22'),
  removeAccount: person('remove an account', '7.22'),
  useAccount: person('choose an account', '7.22'),
  testAccount: person('test an account', '7.22'),
  listErrands: person('list errands', 'S3-56'),
  sendErrand: person('message an errand', 'S3-56'),
  abandonErrand: person('abandon an errand', 'S3-56'),
  approveChange: person('approve a change', 'S4-07'),
  fixChange: person('resolve the conflict of a change', 'S4-08'),
  pauseQueue: person('pause the queue', 'S4-07'),
  resumeQueue: person('resume the queue', 'S4-07'),
  rosterSelf: person('request the token of a process', '7.23'),
  allowPush: person('allow pushes by automatic merges', 'S4-07'),
  forbidPush: person('forbid pushes by automatic merges', 'S4-07'),
} as const satisfies Record<string, Door>;
