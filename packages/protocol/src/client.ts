import type { Event } from '@pawl/schema/event';
import { PawlError } from '@pawl/schema/error';
import type { Project } from '@pawl/schema/record';
import type { ChangeClient } from './change-client.ts';
import { changeClient } from './change-client.ts';
import type { Carry } from './exchange.ts';
import { exchange, readJson, readMessages } from './exchange.ts';
import type { Home } from './home.ts';
import type { AgentAction } from '@pawl/schema/definition';
import type { AccountAdded, AccountAnswer, AccountList, AccountTest, AddAccountBody } from './accounts/view.ts';
import type {
  ErrandAbandoned,
  ErrandDiff,
  ErrandList,
  ErrandMergeBody,
  ErrandMerged,
  ErrandSent,
} from './agents/errands/view.ts';
import type { HistoryPage } from './agents/history/view.ts';
import type { DelegateBody, Delegated, RunResult } from './agents/runs/view.ts';
import type {
  CompleteAnswer,
  CompleteBody,
  ForkBody,
  KillAnswer,
  ReplyBody,
  ResumeBody,
  TellAnswer,
  WorkAnswer,
  WorkBody,
} from './agents/verb-view.ts';
import type { AgentAnswer, AgentList, AgentsAnswer, Inspection } from './agents/view.ts';
import type { PruneAnswer, WorktreeList } from './agents/worktrees/view.ts';
import type { DaemonView, Diagnosis, EventPage, Whoami } from './daemon/view.ts';
import type { DefinitionList, GateAnswer, TrustAnswer, TrustBody, TrustList } from './definitions/view.ts';
import type {
  FetchMailBody,
  MailAnswer,
  MailList,
  MailsAnswer,
  SendMailBody,
  WaitMailBody,
  Waited,
} from './mail/view.ts';
import type { AddTaskBody, TaskAdded, TaskAnswer, TaskDetail, TaskList, TaskView } from './plan/view.ts';
import type {
  AddProjectBody,
  CrewBody,
  CrewView,
  ProjectAdded,
  ProjectDetail,
  ProjectDetails,
  ProjectReference,
  ProjectSettingsAnswer,
  ProjectSettingsBody,
  UntrackBody,
} from './projects/view.ts';
import type { InputView, PromptView } from './prompts/view.ts';
import type {
  Answered,
  AskBody,
  Inbox,
  PermissionAnswer,
  PermissionBody,
  QuestionAnswer,
  QuestionList,
  QuestionView,
} from './questions/view.ts';
import type { Desk, SwitchBody } from './registry/view.ts';
import type { RosterView, SelfView } from './roster/view.ts';
import type { OutputChunk, OutputPage, ProviderList, Top } from './sessions/view.ts';

/** The daemon's client. Loads nothing heavy, so that a short command stays fast. */
export type Client = ChangeClient & {
  whoami(): Promise<Whoami>;
  daemon(): Promise<DaemonView>;
  stopDaemon(): Promise<{ pid: number }>;
  doctor(options?: { repair?: boolean }): Promise<Diagnosis>;
  listProjects(): Promise<{ projects: Project[] }>;
  addProject(body: AddProjectBody): Promise<ProjectAdded>;
  projectSettings(query: ProjectReference): Promise<ProjectSettingsAnswer>;
  changeProjectSettings(body: ProjectSettingsBody): Promise<ProjectSettingsAnswer>;
  /** The named project, or all of them. */
  listProjectDetails(query?: ProjectReference): Promise<ProjectDetails>;
  untrackProject(body: UntrackBody): Promise<ProjectDetail>;
  crew(query: ProjectReference): Promise<CrewView>;
  startCrew(body: CrewBody): Promise<CrewView>;
  stopCrew(body: ProjectReference): Promise<CrewView>;
  listAgents(query?: ListQuery): Promise<AgentList>;
  work(body: WorkBody, idempotencyKey: string): Promise<WorkAnswer>;
  /** Starts an agent for the calling agent; idempotent by key. */
  delegate(body: DelegateBody, idempotencyKey: string): Promise<Delegated>;
  /** A run and its result, after it has ended or after `waitMs`, whichever comes first. */
  runResult(run: string, query?: { waitMs?: number }): Promise<RunResult>;
  /** Without the worktree it only reads the database; with it, git compares files. */
  inspectAgent(reference: string, query?: { worktree?: boolean }): Promise<Inspection>;
  agentPrompt(reference: string, query?: { session?: number }): Promise<PromptView>;
  agentInputs(reference: string): Promise<InputView>;
  listProviders(query?: { searchPath?: string }): Promise<ProviderList>;
  fork(reference: string, body: ForkBody, idempotencyKey: string): Promise<AgentAnswer>;
  stopAgent(reference: string): Promise<AgentAnswer>;
  stopAll(): Promise<AgentsAnswer>;
  resumeAgent(reference: string, body: ResumeBody, idempotencyKey: string): Promise<AgentAnswer>;
  tellAgent(reference: string, body: { message: string }, idempotencyKey: string): Promise<TellAnswer>;
  replyAgent(reference: string, body: ReplyBody, idempotencyKey: string): Promise<AgentAnswer>;
  signalAgent(reference: string, verb: 'pause' | 'continue' | 'interrupt' | 'reap'): Promise<AgentAnswer>;
  killAgent(reference: string, body: { cascade?: boolean }): Promise<KillAnswer>;
  completeAgent(reference: string, body: CompleteBody): Promise<CompleteAnswer>;
  cancelRun(reference: string): Promise<{ cancelled: string[] }>;
  history(reference: string, query?: { after?: number; limit?: number; all?: boolean }): Promise<HistoryPage>;
  note(reference: string, verb: 'clear' | 'mark' | 'rewind', body: { label?: string }): Promise<{ messageId: number }>;
  desk(): Promise<Desk>;
  switchDesk(body: SwitchBody): Promise<Desk>;
  definitions(query?: { path?: string }): Promise<DefinitionList>;
  trustList(query: { path: string }): Promise<TrustList>;
  trust(body: TrustBody): Promise<TrustAnswer>;
  gate(reference: string, body: { tool?: string; input?: string; action?: AgentAction }): Promise<GateAnswer>;
  worktrees(): Promise<WorktreeList>;
  restoreWorktree(entry: string): Promise<{ path: string }>;
  pruneWorktrees(body: { olderThanMs: number; force?: boolean; dryRun?: boolean }): Promise<PruneAnswer>;
  top(): Promise<Top>;
  roster(query?: { path?: string }): Promise<RosterView>;
  rosterSelf(process: { pid: number; start: string }): Promise<SelfView>;
  ask(body: AskBody, idempotencyKey: string): Promise<QuestionAnswer>;
  showQuestion(question: string): Promise<QuestionAnswer>;
  /** Waits for the end of a question, and yields it once. */
  followQuestion(question: string, signal?: AbortSignal): AsyncGenerator<QuestionView>;
  answer(question: string, body: { answer: string }): Promise<Answered>;
  /** Records that the asker was shown the answer, so that it is not sent by mail. */
  noteShown(question: string): Promise<QuestionAnswer>;
  openQuestions(reference: string): Promise<QuestionList>;
  /** Waits for a question to an agent, yields one, and ends. */
  listen(reference: string, signal?: AbortSignal): AsyncGenerator<QuestionView>;
  inbox(): Promise<Inbox>;
  askPermission(body: PermissionBody, idempotencyKey: string): Promise<PermissionAnswer>;
  addTask(body: AddTaskBody): Promise<TaskAdded>;
  listTasks(query?: { path?: string; state?: TaskView['state']; phase?: string; all?: boolean }): Promise<TaskList>;
  showTask(reference: string, query?: { path?: string }): Promise<TaskDetail>;
  changeTask(
    reference: string,
    verb: 'done' | 'block' | 'unblock',
    body: { summary?: string; reason?: string },
    query?: { path?: string },
  ): Promise<TaskAnswer>;
  sendMail(body: SendMailBody, idempotencyKey: string): Promise<MailsAnswer>;
  /** Reads a mailbox without changing it. */
  listMail(query?: MailQuery): Promise<MailList>;
  /** Fetches the caller's own mailbox, which delivers waiting mail. */
  fetchMail(body?: FetchMailBody): Promise<MailList>;
  waitMail(body: WaitMailBody): Promise<Waited>;
  showMail(mail: string): Promise<MailAnswer>;
  readMail(mail: string): Promise<MailAnswer>;
  ackMail(mail: string): Promise<MailAnswer>;
  listErrands(query?: { all?: boolean }): Promise<ErrandList>;
  sendErrand(reference: string, body: { message: string }, idempotencyKey: string): Promise<ErrandSent>;
  diffErrand(reference: string): Promise<ErrandDiff>;
  mergeErrand(reference: string, body: ErrandMergeBody): Promise<ErrandMerged>;
  abandonErrand(reference: string): Promise<ErrandAbandoned>;
  listAccounts(query?: { provider?: string }): Promise<AccountList>;
  addAccount(body: AddAccountBody): Promise<AccountAdded>;
  removeAccount(account: string): Promise<AccountAnswer>;
  useAccount(account: string, body?: { clear?: boolean }): Promise<AccountAnswer>;
  testAccount(account: string, body?: { searchPath?: string }): Promise<AccountTest>;
  output(reference: string, query?: OutputQuery & { limit?: number }): Promise<OutputPage>;
  followOutput(reference: string, query: OutputQuery, signal?: AbortSignal): AsyncGenerator<OutputMessage>;
  events(query?: { after?: number; limit?: number; agent?: string; tail?: number }): Promise<EventPage>;
  followEvents(after: number, query?: { agent?: string }, signal?: AbortSignal): AsyncGenerator<EventMessage>;
};

export type MailQuery = { agent?: string; from?: string; unread?: boolean; limit?: number; before?: string };
export type ListQuery = { project?: string; limit?: number; all?: boolean; reaped?: boolean; before?: string };
/** Output after one chunk, or from the last `tail` chunks on, or all of it. */
export type OutputQuery = { after?: number; tail?: number; format?: 'raw' | 'events' };
export type OutputMessage = { type: 'chunk'; chunk: OutputChunk } | { type: 'ended' };
export type EventMessage = { type: 'event'; event: Event } | { type: 'gap'; lastSeq: number };

/** Timeout of verbs that wait for agents. */
const patienceMs = 24 * 60 * 60 * 1000;

export type ClientOptions = {
  /** The token; by default this process's own. */
  token?: string;
  /** Cancels requests when aborted; streams have their own signals. */
  signal?: AbortSignal;
  /** Replaces the transport over the home's socket; the daemon uses this to call itself. */
  carry?: Carry;
};

/** A client for the daemon of one home, over its unix socket. */
export function createClient(home: Home, { token, signal: givenUp, carry }: ClientOptions = {}): Client {
  const travel: Carry = carry ?? ((request) => exchange(home, request));
  const send = (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    silenceMs?: number,
  ) =>
    travel({
      method,
      path,
      headers,
      token,
      signal: givenUp,
      body: body === undefined ? null : JSON.stringify(body),
      ...(silenceMs === undefined ? {} : { silenceMs }),
    });
  const get = async <T>(path: string, query: Query = {}): Promise<T> =>
    readJson(await send('GET', withQuery(path, query), undefined, { accept: 'application/json' }));
  const post = async <T>(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<T> =>
    readJson(await send('POST', path, body, headers));
  /** For requests that may take as long as an agent does: a fork waits for tools, a stop for processes. */
  const patiently = async <T>(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<T> =>
    readJson(await send('POST', path, body, headers, patienceMs));
  const agentPath = (reference: string, rest = '') => {
    // In a path these would have a special meaning.
    if (/^\.{0,2}$/.test(reference))
      throw new PawlError('agent_not_found', `There is no agent ${JSON.stringify(reference)}.`);
    return `/api/agents/${encodeURIComponent(reference)}${rest}`;
  };
  const errandPath = (reference: string, rest: string) =>
    agentPath(reference, rest).replace('/api/agents/', '/api/errands/');
  const taskPath = (reference: string, rest = '') => {
    if (/^\.{0,2}$/.test(reference)) throw new PawlError('not_found', `There is no task ${JSON.stringify(reference)}.`);
    return `/api/tasks/${encodeURIComponent(reference)}${rest}`;
  };
  const mailPath = (mail: string, rest = '') => {
    if (/^\.{0,2}$/.test(mail)) throw new PawlError('not_found', `There is no mail ${JSON.stringify(mail)}.`);
    return `/api/mail/${encodeURIComponent(mail)}${rest}`;
  };
  const questionPath = (question: string, rest = '') => {
    if (/^\.{0,2}$/.test(question))
      throw new PawlError('not_found', `There is no question ${JSON.stringify(question)}.`);
    return `/api/questions/${encodeURIComponent(question)}${rest}`;
  };
  /** The messages of one event name on a stream. */
  async function* streamOf<T>(path: string, event: string, signal: AbortSignal | undefined): AsyncGenerator<T> {
    for await (const message of readMessages(travel, path, {}, { signal, token }))
      if (message.event === event) yield JSON.parse(message.data) as T;
  }
  const accountPath = (account: string, rest: string) => {
    if (/^\.{0,2}$/.test(account)) throw new PawlError('not_found', `There is no account ${JSON.stringify(account)}.`);
    return `/api/accounts/${encodeURIComponent(account)}${rest}`;
  };

  return {
    ...changeClient({ get, post, withQuery }),
    whoami: () => get('/api/whoami'),
    daemon: () => get('/api/daemon'),
    stopDaemon: () => post('/api/daemon/stop'),
    doctor: ({ repair = false } = {}) => (repair ? post('/api/doctor/repair') : get('/api/doctor')),
    listProjects: () => get('/api/projects'),
    addProject: (body) => post('/api/projects', body),
    projectSettings: (query) => get('/api/projects/settings', query),
    changeProjectSettings: (body) => post('/api/projects/settings', body),
    listProjectDetails: (query) => get('/api/projects/details', query),
    untrackProject: (body) => post('/api/projects/untrack', body),
    crew: (query) => get('/api/projects/crew', query),
    startCrew: (body) => post('/api/projects/crew/start', body),
    stopCrew: (body) => post('/api/projects/crew/stop', body),
    listAgents: (query) => get('/api/agents', query),
    work: (body, idempotencyKey) => post('/api/agents', body, { 'idempotency-key': idempotencyKey }),
    delegate: (body, key) => post('/api/delegations', body, { 'idempotency-key': key }),
    runResult: (run, query) => get(`/api/runs/${encodeURIComponent(run)}`, query),
    inspectAgent: (reference, query) => get(agentPath(reference), query),
    agentPrompt: (reference, query) => get(agentPath(reference, '/prompt'), query),
    agentInputs: (reference) => get(agentPath(reference, '/inputs')),
    listProviders: (query) => get('/api/providers', query),
    fork: (reference, body, key) => patiently(agentPath(reference, '/fork'), body, { 'idempotency-key': key }),
    stopAgent: (reference) => patiently(agentPath(reference, '/stop')),
    stopAll: () => patiently('/api/stop-all'),
    resumeAgent: (reference, body, key) => post(agentPath(reference, '/resume'), body, { 'idempotency-key': key }),
    tellAgent: (reference, body, key) => patiently(agentPath(reference, '/tell'), body, { 'idempotency-key': key }),
    replyAgent: (reference, body, key) => post(agentPath(reference, '/reply'), body, { 'idempotency-key': key }),
    signalAgent: (reference, verb) => post(agentPath(reference, `/${verb}`)),
    killAgent: (reference, body) => patiently(agentPath(reference, '/kill'), body),
    completeAgent: (reference, body) => post(agentPath(reference, '/complete'), body),
    cancelRun: (reference) => patiently(`/api/runs/${encodeURIComponent(reference)}/cancel`),
    history: (reference, query) => get(agentPath(reference, '/history'), query),
    note: (reference, verb, body) => post(agentPath(reference, `/${verb}`), body),
    desk: () => get('/api/desk'),
    switchDesk: (body) => post('/api/desk', body),
    definitions: (query) => get('/api/definitions', query),
    trustList: (query) => get('/api/trust', query),
    trust: (body) => post('/api/trust', body),
    gate: (reference, body) => post(agentPath(reference, '/gate'), body),
    worktrees: () => get('/api/worktrees'),
    restoreWorktree: (entry) => patiently(`/api/worktrees/${encodeURIComponent(entry)}/restore`),
    pruneWorktrees: (body) => patiently('/api/worktrees/prune', body),
    top: () => get('/api/top'),
    roster: (query = {}) => get('/api/roster', query),
    rosterSelf: (process) => post('/api/roster/self', process),
    ask: (body, key) => post('/api/questions', body, { 'idempotency-key': key }),
    showQuestion: (question) => get(questionPath(question)),
    followQuestion: (question, signal) => streamOf<QuestionView>(questionPath(question), 'ended', signal),
    answer: (question, body) => post(questionPath(question, '/answer'), body),
    noteShown: (question) => post(questionPath(question, '/shown')),
    openQuestions: (reference) => get(agentPath(reference, '/questions')),
    listen: (reference, signal) => streamOf<QuestionView>(agentPath(reference, '/questions'), 'question', signal),
    inbox: () => get('/api/inbox'),
    askPermission: (body, key) => patiently('/api/permissions', body, { 'idempotency-key': key }),
    addTask: (body) => post('/api/tasks', body),
    listTasks: (query) => get('/api/tasks', query),
    showTask: (reference, query) => get(taskPath(reference), query),
    changeTask: (reference, verb, body, query = {}) => post(withQuery(taskPath(reference, `/${verb}`), query), body),
    sendMail: (body, key) => post('/api/mail', body, { 'idempotency-key': key }),
    listMail: (query) => get('/api/mail', query),
    fetchMail: (body) => post('/api/mail/fetch', body),
    waitMail: (body) => post('/api/mail/wait', body),
    showMail: (mail) => get(mailPath(mail)),
    readMail: (mail) => post(mailPath(mail, '/read')),
    ackMail: (mail) => post(mailPath(mail, '/ack')),
    listErrands: (query) => get('/api/errands', query),
    sendErrand: (reference, body, key) => patiently(errandPath(reference, '/send'), body, { 'idempotency-key': key }),
    diffErrand: (reference) => get(errandPath(reference, '/diff')),
    mergeErrand: (reference, body) => patiently(errandPath(reference, '/merge'), body),
    abandonErrand: (reference) => patiently(errandPath(reference, '/abandon')),
    listAccounts: (query) => get('/api/accounts', query),
    addAccount: (body) => patiently('/api/accounts', body),
    removeAccount: (account) => post(accountPath(account, '/remove')),
    useAccount: (account, body) => post(accountPath(account, '/use'), body),
    testAccount: (account, body) => patiently(accountPath(account, '/test'), body),
    output: (reference, query) => get(agentPath(reference, '/output'), query),
    events: (query) => get('/api/events', query),
    async *followOutput(reference, query, signal) {
      const path = withQuery(agentPath(reference, '/output'), query);
      for await (const message of readMessages(travel, path, {}, { signal, token })) {
        if (message.event === 'chunk') yield { type: 'chunk', chunk: JSON.parse(message.data) as OutputChunk };
        else if (message.event === 'ended') yield { type: 'ended' };
      }
    },
    async *followEvents(after, query = {}, signal) {
      const path = withQuery('/api/events', query);
      for await (const message of readMessages(travel, path, { 'last-event-id': String(after) }, { signal, token })) {
        if (message.event === 'gap') {
          yield { type: 'gap', lastSeq: (JSON.parse(message.data) as { lastSeq: number }).lastSeq };
        } else yield { type: 'event', event: JSON.parse(message.data) as Event };
      }
    },
  };
}

type Query = Record<string, string | number | boolean | undefined>;

function withQuery(path: string, query: Query): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) words.set(name, String(value));
  return words.size === 0 ? path : `${path}?${words.toString()}`;
}
