// The entries of a wallet as an API reader sees them: what moved, when, by whom and why.
import { eq } from 'drizzle-orm'
import Type from 'typebox'
import { ACCOUNTS, ENTRY_TYPES } from '../../../../shared/billing/wallets/ledger.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { decimal, plain } from '../../../../shared/decimal.ts'
import { listPage } from '../../../list/list-page.ts'
import type { ListSpec } from '../../../list/list-spec.ts'
import { Nullable, Timestamp } from '../../../resource/shapes.ts'
import { getOne } from '../../../resource/store.ts'
import { WalletBalanceValue } from '../../catalog/credit-types/schema.ts'
import { CAUSE_TYPES, type Wallet, type WalletEntry, walletEntries } from '../table.ts'
import { balanceValue, unitOf } from '../unit.ts'
import { walletTypeResource } from '../wallet-type.ts'

export const TRANSACTION_LIST: ListSpec = {
  table: walletEntries,
  filters: {
    'types[]': { kind: 'oneOf', column: 'type', schema: Type.Enum([...ENTRY_TYPES]) },
    wallet_grant_id: { kind: 'equals', column: 'grant_id' },
    created_at: { kind: 'range', column: 'created_at' },
  },
  orderBy: ['created_at', 'effective_at'],
  searchable: [],
  ranges: [],
}

const AccountText = Type.Enum([...ACCOUNTS])

export const WalletTransaction = Type.Object(
  {
    object_type: Type.Literal('WALLET_TRANSACTION'),
    id: Type.String(),
    wallet_id: Type.String(),
    wallet_grant_id: Type.String({ description: 'The grant that the entry belongs to.' }),
    type: Type.Enum([...ENTRY_TYPES], { description: 'What happened.' }),
    debit_account: AccountText,
    credit_account: AccountText,
    value: Nullable(WalletBalanceValue),
    effective_at: Timestamp,
    cause: Type.Object(
      {
        type: Type.Enum([...CAUSE_TYPES]),
        id: Nullable(Type.String({ description: 'The request, invoice, reservation, charge or seat assignment.' })),
        reason: Nullable(Type.String()),
      },
      { title: 'WalletTransactionCause', description: 'Why it happened.' },
    ),
    actor_id: Nullable(Type.String({ description: 'Who did it; null for the service itself.' })),
    request_id: Nullable(Type.String()),
    created_at: Timestamp,
  },
  { title: 'WalletTransaction' },
)

/** One page of the entries of a wallet, newest first unless the query says otherwise. */
export async function listTransactions(uow: ReadUow, wallet: Wallet, query: unknown): Promise<object> {
  const unit = unitOf(await getOne(uow, walletTypeResource, wallet.wallet_type_id))
  const view = (row: WalletEntry) => ({
    object_type: 'WALLET_TRANSACTION',
    id: row.id,
    wallet_id: row.wallet_id,
    wallet_grant_id: row.grant_id,
    type: row.type,
    debit_account: row.debit_account,
    credit_account: row.credit_account,
    value: balanceValue(unit, plain(decimal(row.quantity))),
    effective_at: row.effective_at,
    cause: { type: row.cause_type, id: row.cause_id, reason: row.reason },
    actor_id: row.actor_id,
    request_id: row.request_id,
    created_at: row.created_at,
  })
  return await listPage<WalletEntry>(uow, TRANSACTION_LIST, {
    path: `/v1/wallets/${wallet.id}/transactions`,
    query,
    conditions: [eq(walletEntries.wallet_id, wallet.id)],
    views: rows => rows.map(view),
  })
}
