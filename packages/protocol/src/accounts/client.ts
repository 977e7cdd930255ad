import type {
  AccountAdded,
  AccountAnswer,
  AccountList,
  AccountTest,
  ModelTest,
  TestModelBody,
  AddAccountBody,
} from './view.ts';
import { segment } from '../path-segment.ts';
import type { Requests } from '../requests.ts';

/** The client for accounts. */
export type AccountClient = {
  listAccounts(query?: { provider?: string }): Promise<AccountList>;
  addAccount(body: AddAccountBody): Promise<AccountAdded>;
  removeAccount(account: string): Promise<AccountAnswer>;
  useAccount(account: string, body?: { clear?: boolean }): Promise<AccountAnswer>;
  testModel(body: TestModelBody): Promise<ModelTest>;
  testAccount(account: string, body?: { searchPath?: string }): Promise<AccountTest>;
};

export function accountClient({ get, post }: Requests): AccountClient {
  const at = (account: string, verb: string) => `/api/accounts/${segment('account', account)}/${verb}`;
  return {
    listAccounts: (query) => get('/api/accounts', query),
    addAccount: (body) => post('/api/accounts', body, { waits: true }),
    removeAccount: (account) => post(at(account, 'remove')),
    useAccount: (account, body) => post(at(account, 'use'), body),
    testModel: (body) => post('/api/models/test', body, { waits: true }),
    testAccount: (account, body) => post(at(account, 'test'), body, { waits: true }),
  };
}
