/** The tables of facts. Each belongs to one room of the daemon, which declares its columns with `factTable`. */
export const factTables = [
  'announcements',
  'change_fixes',
  'change_returns',
  'crew_members',
  'default_accounts',
  'dropped_tips',
  'errand_merges',
  'follow_intents',
  'follow_refusals',
  'foreseen_conflicts',
  'forge_memories',
  'idempotency_keys',
  'mail_orders',
  'moved_notices',
  'parked_items',
  'refresh_intents',
  'refresh_refusals',
  'refused_mail_files',
  'trusted_definitions',
  'trusted_settings',
] as const;

export type FactTableName = (typeof factTables)[number];
