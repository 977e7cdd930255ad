export type ColumnType = 'text' | 'text?' | 'integer' | 'integer?' | 'flag' | 'json' | 'json?';

/** One kind of fact: the prefix of its keys in `settings`, and its own table. */
export type FactKind = {
  prefix: string;
  table: string;
  key: string[];
  columns: Record<string, ColumnType>;
  /** Turns the value of a row into an object with a field for each column, unless it is one already. */
  fields?: (value: unknown) => unknown;
  /** Work that a daemon had begun: it must not be lost. */
  isIntent?: true;
};

/** Every kind, as `0018-typed-facts` found it. */
export const factKinds: readonly FactKind[] = [
  {
    prefix: 'announced:',
    table: 'announcements',
    key: ['agent_id'],
    columns: { run_id: 'text?' },
    fields: (runId) => ({ runId: runId === '' ? null : runId }),
  },
  {
    prefix: 'fix:',
    table: 'change_fixes',
    key: ['change_id'],
    columns: { project_id: 'text', branch: 'text', head: 'text', path: 'text', is_own_worktree: 'flag', at: 'integer' },
    isIntent: true,
  },
  {
    prefix: 'returned:',
    table: 'change_returns',
    key: ['change_id'],
    columns: { head: 'text', ejected_at: 'integer?', comments: 'json', to: 'text', mail_id: 'text?' },
  },
  {
    prefix: 'crew:',
    table: 'crew_members',
    key: ['project_id', 'role'],
    columns: { wanted_at: 'integer', agent_id: 'text' },
  },
  {
    prefix: 'account.default:',
    table: 'default_accounts',
    key: ['provider'],
    columns: { account_id: 'text' },
    fields: (accountId) => ({ accountId }),
  },
  {
    prefix: 'dropped:',
    table: 'dropped_tips',
    key: ['project_id'],
    columns: { tips: 'json' },
    fields: (tips) => ({ tips }),
  },
  {
    prefix: 'errand-merge:',
    table: 'errand_merges',
    key: ['agent_id'],
    columns: { into: 'text', from: 'text', to: 'text' },
    isIntent: true,
  },
  {
    prefix: 'follow:',
    table: 'follow_intents',
    key: ['project_id'],
    columns: { branch: 'text', from: 'text', to: 'text' },
    isIntent: true,
  },
  { prefix: 'stayed:', table: 'follow_refusals', key: ['project_id'], columns: { tip: 'text', reason: 'text' } },
  {
    prefix: 'foreseen:',
    table: 'foreseen_conflicts',
    key: ['project_id', 'branch', 'other_branch'],
    columns: { files: 'json' },
    fields: (files) => ({ files }),
  },
  {
    prefix: 'forge:',
    table: 'forge_memories',
    key: ['change_id'],
    columns: { memory: 'json' },
    fields: (memory) => ({ memory }),
  },
  {
    prefix: 'idempotency:',
    table: 'idempotency_keys',
    key: ['key'],
    columns: { id: 'text?', mail_ids: 'json?' },
    fields: (value) => (Array.isArray(value) ? { id: null, mailIds: value } : { id: value, mailIds: null }),
  },
  {
    prefix: 'mail_order:',
    table: 'mail_orders',
    key: ['agent_id'],
    columns: { mail_ids: 'json' },
    fields: (mailIds) => ({ mailIds }),
  },
  {
    prefix: 'moved-notice:',
    table: 'moved_notices',
    key: ['agent_id'],
    columns: { mail_id: 'text' },
    fields: (mailId) => ({ mailId }),
  },
  { prefix: 'parked:', table: 'parked_items', key: ['id'], columns: {}, fields: () => ({}) },
  {
    prefix: 'refresh:',
    table: 'refresh_intents',
    key: ['agent_id'],
    columns: { branch: 'text', target: 'text', onto: 'text', from: 'text', to: 'text' },
    isIntent: true,
  },
  {
    prefix: 'refresh-told:',
    table: 'refresh_refusals',
    key: ['agent_id'],
    columns: { cause: 'text' },
    fields: (cause) => ({ cause }),
  },
  { prefix: 'mail_file:', table: 'refused_mail_files', key: ['mailbox'], columns: { told: 'json' } },
  {
    prefix: 'trust:',
    table: 'trusted_definitions',
    key: ['project_id'],
    columns: { files: 'json' },
    fields: (files) => ({ files }),
  },
  {
    prefix: 'trusted-settings:',
    table: 'trusted_settings',
    key: ['project_id'],
    columns: { files: 'json' },
    fields: (files) => ({ files }),
  },
];
